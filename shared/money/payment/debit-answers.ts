import type { Db } from 'mongodb';
import { isStoreTrouble } from '../../platform/mongo/errors.ts';
import { untilAnswered } from '../../platform/mongo/until-answered.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { Log } from '../../platform/runtime/log.ts';
import type { Answered, DebitRequest } from './debit.ts';
import { debitAgain, readDebits } from './debit-again.ts';

export interface DebitDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  /** Accounts that are known to have caps (`readDebits`). */
  readonly capped: Set<AccountId>;
}

const UNKNOWN = { kind: 'unknown' } as const;

/** A first attempt (`debitEach`) that did not simply pay all requests. */
export interface Attempt {
  /** When it began, by the monotonic clock. */
  readonly beganMs: number;
  readonly paid: Promise<number>;
}

/**
 * What became of each request after such an attempt; it is repeated when its answer was lost. Each is paid once or not at all,
 * and its answer says which, or `unknown` when that cannot be told. Rejects only when certainly nothing happened to any of them.
 */
export async function debitAnswers(
  deps: DebitDeps,
  requests: readonly DebitRequest[],
  attempt: Attempt,
): Promise<readonly Answered[]> {
  try {
    return await answersTogether(deps, requests, attempt);
  } catch (error) {
    if (isStoreTrouble(error)) throw error;
    // The store refused one of the updates; the others may be paid. Repeated one by one, each gets its own answer.
    return Promise.all(requests.map((request) => debitAlone(deps, request)));
  }
}

async function answersTogether(
  { db, clock, log, capped }: DebitDeps,
  requests: readonly DebitRequest[],
  { beganMs, paid }: Attempt,
): Promise<readonly Answered[]> {
  const tools = { clock, log, what: { accounts: requests.length, group: requests[0]?.group } };
  let heard = false;
  const first = await untilAnswered<readonly Answered[] | number>({ ...tools, sinceMs: beganMs }, async () => {
    if (heard) return Promise.all(requests.map((request) => repeatOrUnknown(db, request)));
    heard = true;
    return paid;
  });
  if (first === 'unknown') return requests.map(() => UNKNOWN);
  if (typeof first.answer !== 'number') return first.answer;
  const paying = first.answer;
  let repeated = false;
  try {
    const read = await untilAnswered<readonly Answered[]>(tools, async () => {
      const reading = readDebits(db, requests, { capped, repeated });
      repeated = true;
      const debits = await reading;
      // Fewer than the store has answered: the read came to a server that was replaced and does not know it.
      if (debits.filter(({ kind }) => kind === 'paid').length >= paying) return debits;
      return Promise.all(requests.map((request) => repeatOrUnknown(db, request)));
    });
    return read === 'unknown' ? requests.map(() => UNKNOWN) : read.answer;
  } catch (error) {
    if (!isStoreTrouble(error)) throw error;
    // The requests may be paid, so this is no longer "nothing happened".
    return requests.map(() => UNKNOWN);
  }
}

async function debitAlone({ db, clock, log }: DebitDeps, request: DebitRequest): Promise<Answered> {
  try {
    const answer = await untilAnswered({ clock, log, what: { group: request.group } }, () => repeat(db, request));
    return answer === 'unknown' ? UNKNOWN : answer.answer;
  } catch (error) {
    return isStoreTrouble(error) ? UNKNOWN : { kind: 'failed', error };
  }
}

/** A refusal of one debit says nothing about the others. */
async function repeatOrUnknown(db: Db, request: DebitRequest): Promise<Answered> {
  try {
    return await repeat(db, request);
  } catch (error) {
    if (isStoreTrouble(error)) throw error;
    return UNKNOWN;
  }
}

async function repeat(db: Db, request: DebitRequest): Promise<Answered> {
  const debit = await debitAgain(db, request);
  return debit.kind === 'unknown' ? UNKNOWN : { ...debit, repeated: true };
}
