import type { Db, Document, Filter } from 'mongodb';
import { isStoreTrouble } from '../../platform/mongo/errors.ts';
import { findAtOnce, findCommitted } from '../../platform/mongo/find-one.ts';
import { NOW_MS } from '../../platform/mongo/store-time.ts';
import { untilAnswered } from '../../platform/mongo/until-answered.ts';
import { updateEach } from '../../platform/mongo/update-each.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId, GroupId } from '../../platform/runtime/ids.ts';
import type { Log } from '../../platform/runtime/log.ts';
import type { AccountDocument } from '../accounts/account.ts';
import {
  chargesOf,
  type KeyCaps,
  type KeyCharge,
  PAYER,
  type Payer,
  payerFilter,
  type Refusal,
  refusalOf,
  spending,
} from '../ledger/spending.ts';
import { isEntered, isEnteredForSure } from '../ledger/store.ts';
import { type Decided, encodePurchase, type Purchase, priceOf } from './pending.ts';

export type Debit = { readonly kind: 'paid' } | { readonly kind: 'refused'; readonly why: Refusal };

/**
 * `failed`: nothing happened to this one, for a reason of its own. `repeated`: an attempt with a lost answer may still
 * reach the store. It has no effect while the pending change exists, so only maintenance may clear that.
 */
export type Answered =
  | (Debit & { readonly repeated?: true })
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: unknown };

export const PAID = { kind: 'paid' } as const;

export interface DebitRequest extends Purchase {
  readonly account: AccountId;
  readonly group: GroupId;
  /** UTC day, for the expiry of the credits. */
  readonly today: string;
  /** Groups whose follow-up is complete: this debit clears their pending changes. */
  readonly done: readonly GroupId[];
  /** Groups whose messages are in the queue: this debit removes the messages from their pending changes. */
  readonly queued?: readonly GroupId[];
  /** From this store's time on it is refused, however long delayed (gateway/http/idempotency/key-store.ts). */
  readonly payBy?: Date | undefined;
  readonly keys?: readonly KeyCharge[];
  /** Nobody here knows of caps: it pays only if there are none; if there are, `readDebits` asks again, with them. */
  readonly uncapped?: boolean;
  /** This process has seen a debit of the account pay today. */
  readonly begun?: boolean;
}

/**
 * The one atomic update that decides: the account pays for the group and carries its messages, or nothing happens.
 * Takes one group each for several accounts: one update per account, all in one command; each decides for itself.
 * Returns how many have paid; if not all have, `debitAnswers` says which.
 *
 * For first attempts only: the filter prevents a second payment only while the pending change exists. When an answer
 * was or may have been lost, use `debitAgain`, which also recognizes debits that were cleared since.
 */
export function debitEach(db: Db, requests: readonly DebitRequest[]): Promise<number> {
  return updateEach(
    db,
    'accounts',
    requests.map((request) => ({ filter: debitFilter(request), update: debitPipeline(request) })),
  );
}

/** From the account as it is afterwards, while its pending change is not cleared. */
function debitOf(now: (Payer & Pick<AccountDocument, 'pending'>) | null, request: DebitRequest): Debit {
  if (now?.pending?.[request.group] !== undefined) return PAID;
  const required = priceOf(request);
  const why = refusalOf(now, required, request.today, request.keys);
  if (why !== undefined) return { kind: 'refused', why };
  if (request.payBy !== undefined) return { kind: 'refused', why: { kind: 'too_late' } };
  // The reason for the refusal is gone by now; the answer is about the moment of the debit.
  return { kind: 'refused', why: { kind: 'insufficient_credits', balance: now?.balance ?? 0, required } };
}

/** Why a debit of `required` credits would be refused now; undefined when it would be paid. Charges nothing. */
export async function wouldRefuse(
  db: Db,
  account: AccountId,
  required: number,
  today: string,
  caps: readonly KeyCaps[] = [],
): Promise<Refusal | undefined> {
  const now = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection: PAYER });
  return refusalOf(now, required, today, chargesOf([{ caps, amount: required }]));
}

/** Matches an account that can pay now and has no pending change of this group: it pays for a group once. */
function debitFilter(request: DebitRequest): Filter<AccountDocument> {
  const { account, group, today, payBy, keys, uncapped } = request;
  return {
    _id: account,
    ...payerFilter(priceOf(request), today, keys, uncapped),
    [`pending.${group}`]: { $exists: false },
    ...inTime(payBy),
  };
}

function debitPipeline(request: DebitRequest): Document[] {
  const { group, today, done, queued = [], keys = [], begun } = request;
  const required = priceOf(request);
  const seq = { $add: ['$seq', 1] };
  const balance = { $subtract: ['$balance', required] };
  const pending = {
    ...({ seq, balanceAfter: balance, at: '$$NOW' } satisfies Record<Decided, unknown>),
    ...encodePurchase(request),
  };
  const set = {
    $set: {
      balance,
      seq,
      pendingAt: { $ifNull: ['$pendingAt', '$$NOW'] },
      [`pending.${group}`]: pending,
      ...spending(required, today, keys, begun),
    },
  };
  const gone = [...done.map((id) => `pending.${id}`), ...queued.map((id) => `pending.${id}.messages`)];
  return gone.length === 0 ? [set] : [set, { $unset: gone }];
}

/**
 * The result of each request of an answered `debitEach`, in order, when not all have paid. A request that the plain
 * reads show as paid is paid; but a replaced server may show fewer than `debitEach` has counted, so the caller compares
 * the numbers. `repeated`: this is a repeat. Accounts with caps that the caller did not know are added to `capped`, and
 * pay now.
 */
async function readDebits(
  db: Db,
  requests: readonly DebitRequest[],
  { capped, repeated }: { readonly capped: Set<AccountDocument['_id']>; readonly repeated: boolean },
): Promise<readonly Answered[]> {
  const accounts = await readAccounts(db, requests);
  return Promise.all(
    requests.map(async (request) => {
      const account = accounts.get(request.account) ?? null;
      const debit = debitOf(account, request);
      if (debit.kind === 'paid' || (await isEntered(db, request.account, request.group))) return PAID;
      if (request.uncapped !== true || account?.caps === undefined) return debit;
      capped.add(request.account);
      const again = await debitAgain(db, request);
      return again.kind === 'unknown' || !repeated ? again : { ...again, repeated };
    }),
  );
}

/** Lost races in a row before the answer is `unknown`: each means that another change of the balance went through. */
const TRIES_MAX = 50;

/**
 * Repeats a debit whose answer was lost. Maintenance may have finished and cleared the group meanwhile, so a missing
 * pending change proves nothing. The ledger is checked too, and the account pays only if its `seq` is unchanged since
 * before both checks (a compare-and-set: every change raises `seq`). May be repeated. `unknown` when the account keeps
 * changing too fast.
 *
 * Its findings are read from a majority (`findCommitted`): a payment that a plain read shows may still be rolled back
 * when its server is replaced, and the messages would be free. A later acknowledged write proves it only on the same
 * server; on a cluster messages and account may lie on different ones.
 */
export async function debitAgain(db: Db, asked: DebitRequest): Promise<Debit | { readonly kind: 'unknown' }> {
  const request = { ...asked, uncapped: false };
  const accounts = db.collection<AccountDocument>('accounts');
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const before = await readPayer(db, request);
    const found = debitOf(before, request);
    if (found.kind === 'paid') return found;
    if (await isEnteredForSure(db, request.account, request.group)) return PAID;
    if (before === null) return found;
    const after = await accounts.findOneAndUpdate(
      { ...debitFilter(request), seq: before.seq },
      debitPipeline(request),
      { returnDocument: 'after', projection: projectionOf([request]) },
    );
    if (after !== null) return debitOf(after, request);
    const now = await readPayer(db, request);
    // Nothing changed in between, so the account itself, or the time, is the reason.
    if (now?.seq === before.seq) return debitOf(now, request);
  }
  return { kind: 'unknown' };
}

type PayingAccount = Payer & Pick<AccountDocument, '_id' | 'seq' | 'pending'>;

async function readAccounts(
  db: Db,
  requests: readonly DebitRequest[],
): Promise<ReadonlyMap<AccountDocument['_id'], PayingAccount>> {
  const found = await findAtOnce<AccountDocument>(db, 'accounts', {
    filter: { _id: { $in: requests.map(({ account }) => account) } },
    projection: projectionOf(requests),
    sort: { _id: 1 },
    limit: requests.length,
  });
  return new Map(found.map((account) => [account._id, account]));
}

function readPayer(db: Db, request: DebitRequest): Promise<PayingAccount | null> {
  const accounts = db.collection<AccountDocument>('accounts');
  return findCommitted(accounts, { _id: request.account }, projectionOf([request]));
}

function projectionOf(requests: readonly DebitRequest[]): Readonly<Record<string, 1>> {
  const projection: Record<string, 1> = { ...PAYER, seq: 1 };
  for (const { group } of requests) projection[`pending.${group}.seq`] = 1;
  return projection;
}

export interface DebitDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly capped: Set<AccountId>;
}

const UNKNOWN = { kind: 'unknown' } as const;

/** A `debitEach` that did not simply pay all requests. */
export interface Attempt {
  readonly beganMs: number;
  readonly paid: Promise<number>;
}

/**
 * What became of each request after such an attempt, which is repeated when its answer was lost. Each is paid once or
 * not at all; its answer says which, or `unknown`. Rejects only when certainly nothing happened to any of them.
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

/**
 * The part of a debit's filter that lets it pay before `payBy` only. The store's time may go back: another primary or
 * router may have a slower clock. So whoever acts on "it is over" first says so in the account (`declareOver`); from
 * then on the debit is refused whatever the time is.
 */
export function inTime(payBy: Date | undefined): Filter<AccountDocument> {
  return payBy === undefined ? {} : { lapsed: { $not: { $gte: payBy } }, $expr: { $lt: [NOW_MS, payBy.getTime()] } };
}

export function earliest(times: readonly (Date | undefined)[]): Date | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}

/**
 * True: no debit of the account with this `payBy`, or an earlier one, pays from now on, whatever clock it meets; what
 * it had paid is found by `findCommitted`. One atomic update. Call this before looking for what was paid: then "not
 * found" is final. May be repeated.
 */
export async function declareOver(db: Db, account: AccountId, payBy: Date): Promise<boolean> {
  const { matchedCount } = await db
    .collection<AccountDocument>('accounts')
    .updateOne(
      { _id: account, $or: [{ lapsed: { $gte: payBy } }, { $expr: { $gte: [NOW_MS, payBy.getTime()] } }] },
      { $max: { lapsed: payBy } },
    );
  return matchedCount === 1;
}
