import { recipientProblem } from '../../shared/messages/recipient.ts';
import type { Completion } from '../../shared/numbers/completion.ts';
import { type OptOutDocument, WHOLE_ACCOUNT } from '../../shared/opt-outs/opt-out.ts';

/** The columns that `opt-out export` writes. A file that is read needs only `customer`. */
const COLUMNS = ['customer', 'number', 'since', 'source', 'word'] as const;

export const OPT_OUT_HEADING = COLUMNS.join(',');

export interface OptOutLine {
  readonly customer: string;
  readonly scope: string;
  readonly since?: Date;
}

export interface OptOutFile {
  readonly lines: readonly OptOutLine[];
  readonly problems: readonly { readonly line: number; readonly detail: string }[];
}

/** One line of the file. Words are in the form of `foldText`, so they contain no comma and no quote. */
export function optOutLine({ customer, scope, since, source, word }: OptOutDocument): string {
  const number = scope === WHOLE_ACCOUNT ? '' : scope;
  return [customer, number, since?.toISOString() ?? '', source ?? '', word ?? ''].join(',');
}

/**
 * Reads CSV: `customer`, then optionally `number` (empty for the whole account) and `since`. Skips a heading and empty lines. Customers
 * in national form are completed.
 */
export function readOptOutFile(text: string, complete: Completion): OptOutFile {
  const lines: OptOutLine[] = [];
  const problems: { line: number; detail: string }[] = [];
  const rows = text.replace(/^\ufeff/, '').split(/\r?\n/);
  for (const [index, row] of rows.entries()) {
    const [written = '', number = '', since = ''] = row.split(',').map((cell) => cell.trim().replaceAll('"', ''));
    if (row.trim() === '' || written === COLUMNS[0]) continue;
    const customer = /^[0-9]+$/.test(written) ? complete(written, number) : written;
    const at = since === '' ? undefined : new Date(since);
    const detail =
      recipientProblem(customer) ??
      (/^(\d{3,15})?$/.test(number) ? undefined : 'The number must have 3 to 15 digits.') ??
      (at === undefined || isPast(at)
        ? undefined
        : 'The time must be like 2027-01-31T12:00:00Z, and not in the future.');
    if (detail === undefined) {
      lines.push({ customer, scope: number === '' ? WHOLE_ACCOUNT : number, ...(at && { since: at }) });
    } else problems.push({ line: index + 1, detail });
  }
  return { lines, problems };
}

function isPast(at: Date): boolean {
  return at.getTime() <= Date.now();
}
