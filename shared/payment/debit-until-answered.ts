import type { Db } from 'mongodb';
import { isStoreTrouble } from '../mongo/errors.ts';
import { untilAnswered } from '../mongo/until-answered.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { type Debit, type DebitRequest, debitEach, PAID } from './debit.ts';
import { debitAgain, readDebits } from './debit-again.ts';

/**
 * `failed`: nothing happened to this one, for a reason of its own. `repeated`: an attempt with a lost answer may still reach the
 * store. It has no effect while the pending change exists, so only the sweep may clear that.
 */
export type Answered =
  | (Debit & { readonly repeated?: true })
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface DebitDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
}

const UNKNOWN = { kind: 'unknown' } as const;

/**
 * Debits of different accounts, together, repeated when their answer was lost. Each is paid once or not at all, and its answer
 * says which, or `unknown` when that cannot be told. Rejects only when certainly nothing happened to any of them.
 */
export async function debitUntilAnswered(
  deps: DebitDeps,
  requests: readonly DebitRequest[],
): Promise<readonly Answered[]> {
  try {
    return await debitTogether(deps, requests);
  } catch (error) {
    if (isStoreTrouble(error)) throw error;
    // The store refused one of the updates; the others may be paid. Repeated one by one, each gets its own answer.
    return Promise.all(requests.map((request) => debitAlone(deps, request)));
  }
}

async function debitTogether(
  { db, clock, log }: DebitDeps,
  requests: readonly DebitRequest[],
): Promise<readonly Answered[]> {
  const tools = { clock, log, what: { accounts: requests.length, group: requests[0]?.group } };
  let asked = false;
  const paid = await untilAnswered<readonly Answered[] | undefined>(tools, async () => {
    if (asked) return Promise.all(requests.map((request) => repeatOrUnknown(db, request)));
    asked = true;
    return (await debitEach(db, requests)) === requests.length ? requests.map(() => PAID) : undefined;
  });
  if (paid === 'unknown') return requests.map(() => UNKNOWN);
  if (paid.answer !== undefined) return paid.answer;
  try {
    const read = await untilAnswered(tools, () => readDebits(db, requests));
    return read === 'unknown' ? requests.map(() => UNKNOWN) : read.answer;
  } catch (error) {
    if (!isStoreTrouble(error)) throw error;
    // They may be paid, so this is no longer "nothing happened".
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
