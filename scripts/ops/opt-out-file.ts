import type { Completion } from '../../shared/carriers/numbers/completion.ts';
import { type OptOutDocument, WHOLE_ACCOUNT } from '../../shared/carriers/opt-outs/opt-out.ts';
import { recipientProblem } from '../../shared/messages/document/recipient.ts';
import { parseTimeOrDay, TIME_OR_DAY } from '../../shared/platform/runtime/iso-time.ts';
import { phoneDigits, wordOf } from '../../shared/platform/sheets/cell.ts';
import type { LineProblem, NumberFile } from './number-file.ts';

/** The columns that `opt-out export` writes. A file that is read needs only the customers. */
const COLUMNS = ['customer', 'number', 'since', 'source', 'word'] as const;
/** What others call the customers' numbers. Beside `customer`, a `number` is the account's own. */
const CUSTOMER_NAMES = [
  ...['customer', 'recipient', 'msisdn', 'mobile', 'mobilenumber', 'mobileno', 'phone', 'phonenumber', 'phoneno'],
  ...['contact', 'contactnumber', 'contactno', 'number'],
];
/** A day has begun at the date line before it begins in UTC. */
const DAY_AHEAD_MS = 14 * 3_600_000;

export const OPT_OUT_HEADING = COLUMNS.join(',');

export interface OptOutLine {
  readonly customer: string;
  readonly scope: string;
  readonly since?: Date;
}

export interface OptOutFile {
  readonly lines: readonly OptOutLine[];
  readonly problems: readonly LineProblem[];
}

/** One line of the file. Words are in the form of `foldText`, so they contain no comma and no quote. */
export function optOutLine({ customer, scope, since, source, word }: OptOutDocument): string {
  const number = scope === WHOLE_ACCOUNT ? '' : scope;
  return [customer, number, since?.toISOString() ?? '', source ?? '', word ?? ''].join(',');
}

/**
 * Who opted out: by the names of the columns, or `customer`, then perhaps `number` (empty for the whole account) and `since`. Customers
 * in national form are completed.
 */
export function optOutsOf({ head, rows }: NumberFile, complete: Completion, now: Date): OptOutFile {
  const lines: OptOutLine[] = [];
  const problems: LineProblem[] = [];
  const columns = columnsOf(head);
  for (const { line, cells } of rows) {
    const written = phoneDigits(cells[columns.customer] ?? '');
    const number = phoneDigits(cells[columns.number] ?? '');
    const customer = /^[0-9]+$/.test(written) ? complete(written, number) : written;
    const since = sinceOf(cells[columns.since] ?? '', now);
    const detail =
      recipientProblem(customer) ??
      (/^(\d{3,15})?$/.test(number) ? undefined : 'The number must have 3 to 15 digits.') ??
      (typeof since === 'string' ? since : undefined);
    if (detail !== undefined || typeof since === 'string') problems.push({ line, detail: detail ?? '' });
    else lines.push({ customer, scope: number === '' ? WHOLE_ACCOUNT : number, ...(since && { since }) });
  }
  return { lines, problems };
}

function columnsOf(head: readonly string[]) {
  if (head.length === 0) return { customer: 0, number: 1, since: 2 };
  const customer = Math.max(0, head.indexOf(CUSTOMER_NAMES.find((name) => head.includes(name)) ?? ''));
  const number = head.indexOf('number');
  return { customer, number: number === customer ? -1 : number, since: head.indexOf('since') };
}

/** Undefined when there is none, and a sentence when it is no time of the past. */
function sinceOf(cell: string, now: Date): Date | string | undefined {
  const { text } = wordOf(cell);
  if (text === '') return undefined;
  const at = parseTimeOrDay(text);
  if (at === undefined)
    return `${JSON.stringify(text.slice(0, 30))} is no time that is the same for everybody. Write ${TIME_OR_DAY}.`;
  if (at <= now) return at;
  return text.length === 10 && at.getTime() - now.getTime() < DAY_AHEAD_MS ? now : 'The time is in the future.';
}
