import { once } from 'node:events';
import { beginStream, sendProblem } from '../http/answer.ts';
import { callerOf, type Reply } from '../http/context.ts';
import { FileSlots } from '../http/file-slots.ts';
import type { Gateway } from './endpoint.ts';
import { perProcess } from './per-process.ts';

/** CSV files as answers: what the contract says of them, and how long ones are sent. */

export const CSV_TYPE = 'text/csv; charset=utf-8';

/** What the contract says of an endpoint that answers a CSV file, at least when it is asked to. */
export function csvAnswer(example: string) {
  const content = { 'text/csv': { schema: { type: 'string' }, examples: { file: { value: example } } } };
  return { responses: { 200: { content } } };
}

/** How many requests a long file counts as. */
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
