import { once } from 'node:events';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { inSlices } from '../../shared/platform/runtime/turns.ts';
import { beginStream, sendProblem } from '../http/answer.ts';
import { callerOf, type Reply } from '../http/context.ts';
import { type Gateway, perProcess } from './endpoint.ts';

type Cell = string | number | null | undefined;

export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** A CSV document (RFC 4180). Works in slices, so that long lists do not hold the event loop. */
export async function csvText<Row>(columns: Columns<Row>, rows: readonly Row[]): Promise<string> {
  return csvHead(columns) + (await csvLines(columns, rows));
}

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

/** Spreadsheets take these for the start of a formula (OWASP, CSV Injection). Negative numbers of ours are exempt. */
const FORMULA = /^[=+\-@\t\r\n]/;

function csvCell(value: Cell): string {
  if (value === undefined || value === null) return '';
  const text = String(value);
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** CSV files as answers. */

export const CSV_TYPE = 'text/csv; charset=utf-8';

export function csvAnswer(example: string) {
  const content = { 'text/csv': { schema: { type: 'string' }, examples: { file: { value: example } } } };
  return { responses: { 200: { content } } };
}

export const CSV_COST = 20;
/** Each file reads the store for as long as its caller takes. */
const slotsOf = perProcess(() => new FileSlots({ account: 4, process: 16 }));
/** Seconds. */
const RETRY_AFTER = ['Retry-After', '5'] as const;

export const CSV_PROBLEMS = ['too_many_files', 'files_busy'] as const;

/** Sends a file in pieces. It counts as `CSV_COST` requests. */
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
      // Cut off, so that nobody takes a part for the whole file.
      if (res.destroyed || res.locals.stopping.aborted) return void res.destroy();
      if (piece !== '' && !res.write(piece)) await Promise.race([once(res, 'drain'), closed]);
    }
    res.end();
  } finally {
    release();
  }
}

/** Limits the files of one kind that this process sends at a time: per account, and in all. */
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

  /** Returns a function that frees the slot, to be called once; or whose slots are all taken. */
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
