import { customerProblem } from '../../shared/messages/recipient.ts';
import type { Completion } from '../../shared/numbers/completion.ts';

export interface CustomerList {
  /** Without repeats, in the file's order. */
  readonly customers: readonly string[];
  readonly problems: readonly { readonly line: number; readonly detail: string }[];
}

/**
 * Reads a file of customers: one number or user id per line. Empty lines and text after `#` are ignored. Numbers in national form are
 * completed.
 */
export function readCustomerList(text: string, complete: Completion): CustomerList {
  const customers = new Set<string>();
  const problems: { line: number; detail: string }[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    const [number = ''] = line.split('#');
    const written = number.trim();
    if (written === '') continue;
    const customer = /^[0-9]+$/.test(written) ? complete(written) : written;
    const detail = customerProblem(customer);
    if (detail === undefined) customers.add(customer);
    else problems.push({ line: index + 1, detail });
  }
  return { customers: [...customers], problems };
}
