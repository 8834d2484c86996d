import { once } from 'node:events';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { inSlices } from '../../shared/platform/runtime/turns.ts';
import { beginStream, sendProblem } from '../http/answer.ts';
import { callerOf, type Reply } from '../http/context.ts';
import { type Gateway, perProcess } from './endpoint.ts';

/** The value of a cell: undefined and null are empty. */
type Cell = string | number | null | undefined;

/** The columns of a CSV document, with what is in them. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** A CSV document (RFC 4180) with a column for each entry of `columns`. Works in slices, so that long lists hold nobody up. */
export async function csvText<Row>(columns: Columns<Row>, rows: readonly Row[]): Promise<string> {
  return csvHead(columns) + (await csvLines(columns, rows));
}

/** The first line, for a document that is sent piece by piece. */
export function csvHead<Row>(columns: Columns<Row>): string {
  return `${Object.keys(columns).map(csvCell).join(',')}\r\n`;
}

export async function csvLines<Row>(columns: Columns<Row>, rows: readonly Row[]): Promise<string> {
  const cells = Object.values(columns);
  let lines = '';
  await inSlices(rows, (row) => {
    lines += `${cells.map((cell) => csvCell(cell(row))).join(',')}\r\n`;
  });
  return lines;
}

/** A spreadsheet takes these for the beginning of a formula (OWASP, CSV Injection). Numbers of ours may be negative. */
const FORMULA = /^[=+\-@\t\r\n]/;

function csvCell(value: Cell): string {
  if (value === undefined || value === null) return '';
  const text = String(value);
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** CSV files as answers: what the contract says of them, and how long ones are sent. */

export const CSV_TYPE = 'text/csv; charset=utf-8';

/** What the contract says of an endpoint that answers a CSV file, at least when it is asked to. */
export function csvAnswer(example: string) {
  const content = { 'text/csv': { schema: { type: 'string' }, examples: { file: { value: example } } } };
  return { responses: { 200: { content } } };
}

export const CSV_COST = 20;
/** Each reads the store for as long as its caller takes to read it. */
const slotsOf = perProcess(() => new FileSlots({ account: 4, process: 16 }));
/** Seconds after which a slot is probably free. */
const RETRY_AFTER = ['Retry-After', '5'] as const;

export const CSV_PROBLEMS = ['too_many_files', 'files_busy'] as const;

/** Sends a file piece by piece, so that a long one holds nobody up. It counts as `CSV_COST` requests. */
export async function sendCsv(
  gateway: Gateway,
  res: Reply,
  name: string,
  pieces: () => AsyncIterable<string>,
): Promise<void> {
  const release = slotsOf(gateway).take(callerOf(res).account._id);
  if (typeof release === 'string') {
    return sendProblem(res, release === 'account' ? 'too_many_files' : 'files_busy', { headers: RETRY_AFTER });
  }
  try {
    if (!(await gateway.charge(res, CSV_COST))) return;
    beginStream(res, CSV_TYPE, ['Content-Disposition', `attachment; filename="${name}"`]);
    if (res.req.method === 'HEAD') return void res.end();
    const closed = once(res, 'close');
    for await (const piece of pieces()) {
      // Cut off, so that nobody takes a part for the whole.
      if (res.destroyed || res.locals.stopping.aborted) return void res.destroy();
      if (piece !== '' && !res.write(piece)) await Promise.race([once(res, 'drain'), closed]);
    }
    res.end();
  } finally {
    release();
  }
}

/** The files of one kind that are being sent in this process: so many of one account at once, and of all. */
export class FileSlots {
  readonly #most: { readonly account: number; readonly process: number };
  readonly #taken = new Map<AccountId, number>();
  #all = 0;

  constructor(most: { readonly account: number; readonly process: number }) {
    this.#most = most;
  }

  get taken(): number {
    return this.#all;
  }

  /** Takes a slot. Returns a function that gives it back, to be called once, or who has no room. */
  take(account: AccountId): (() => void) | 'account' | 'process' {
    const own = this.#taken.get(account) ?? 0;
    if (own >= this.#most.account) return 'account';
    if (this.#all >= this.#most.process) return 'process';
    this.#taken.set(account, own + 1);
    this.#all += 1;
    return () => this.#giveBack(account);
  }

  #giveBack(account: AccountId): void {
    const own = this.#taken.get(account) ?? 0;
    this.#all -= 1;
    if (own > 1) this.#taken.set(account, own - 1);
    else this.#taken.delete(account);
  }
}
