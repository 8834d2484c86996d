import { recipientProblem } from '../../shared/messages/recipient.ts';

export interface CustomerList {
  /** Each once, in the file's order. */
  readonly customers: readonly string[];
  readonly problems: readonly { readonly line: number; readonly detail: string }[];
}

/** A file of customers: one number a line; empty lines and what follows a `#` do not count. */
export function readCustomerList(text: string): CustomerList {
  const customers = new Set<string>();
  const problems: { line: number; detail: string }[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    const [number = ''] = line.split('#');
    const customer = number.trim();
    if (customer === '') continue;
    const detail = recipientProblem(customer);
    if (detail === undefined) customers.add(customer);
    else problems.push({ line: index + 1, detail });
  }
  return { customers: [...customers], problems };
}
