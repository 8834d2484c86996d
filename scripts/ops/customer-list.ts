import { customerOf } from '../../gateway/endpoints/opt-ins/customer.ts';
import type { Completion } from '../../shared/carriers/numbers/completion.ts';
import { customerProblem } from '../../shared/messages/document/recipient.ts';
import type { LineProblem, NumberFile } from './number-file.ts';

export interface CustomerList {
  /** Without repeats, in the file's order. */
  readonly customers: readonly string[];
  readonly problems: readonly LineProblem[];
}

/**
 * Customers of a file: the number or user id in the first column. Text after `#` is ignored. Numbers in national form are completed.
 */
export function customersOf({ rows }: Pick<NumberFile, 'rows'>, complete: Completion): CustomerList {
  const customers = new Set<string>();
  const problems: LineProblem[] = [];
  for (const { line, cells } of rows) {
    const [cell = ''] = (cells[0] ?? '').split('#');
    const written = customerOf(cell);
    if (written === '') continue;
    const customer = /^[0-9]+$/.test(written) ? complete(written) : written;
    const detail = customerProblem(customer);
    if (detail === undefined) customers.add(customer);
    else problems.push({ line, detail });
  }
  return { customers: [...customers], problems };
}
