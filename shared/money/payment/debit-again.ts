import type { Db } from 'mongodb';
import { findAtOnce, findCommitted } from '../../platform/mongo/find-one.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { PAYER, type Payer } from '../ledger/refusal.ts';
import { isEntered, isEnteredForSure } from '../ledger/store.ts';
import { type Answered, type Debit, type DebitRequest, debitFilter, debitOf, debitPipeline, PAID } from './debit.ts';

/**
 * The result of each request of an answered `debitEach`, in order, when not all have paid. By plain reads: a request that they show
 * as paid is paid. A server that was replaced may show fewer than `debitEach` has counted, so the caller compares the numbers. May
 * be repeated: then say so. Accounts with caps of which the caller did not know are added to `capped`, and pay now.
 */
export async function readDebits(
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

/**
 * Lost races in a row before the answer is `unknown`. Each means that another change of the account's balance went through since
 * it was read.
 */
const TRIES_MAX = 50;

/**
 * Repeats a debit whose answer was lost. This process may have been stopped in the meantime, and the maintenance may have finished and
 * cleared the group, so a missing pending change proves nothing. The ledger is checked too, and the account pays only if its
 * `seq` is unchanged since before both checks (a compare-and-set: every change raises `seq`). May be repeated. `unknown` when the
 * account keeps changing too fast.
 *
 * What it finds is on a majority (`findCommitted`): a payment that a plain read shows may still be rolled back when its server is
 * replaced, and the messages, which then go to another server, would be free. A later write that is acknowledged proves it only if
 * it goes to the same server; on a cluster messages and account may lie on different ones.
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

/** What a debit needs to know of the account. */
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
