import { setImmediate } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { listAccounts } from '../../../shared/money/accounts/store.ts';
import { type LedgerVerdict, verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { type AccountId, type LedgerCheckId, newId } from '../../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import { perProcess } from '../../api/per-process.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/** A walk through the ledgers of one account or all, begun by an operator. It is stored, so every gateway can tell of it. */
export interface LedgerCheckDocument {
  readonly _id: LedgerCheckId;
  /** Absent: all accounts. */
  readonly account?: AccountId;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedAt: Date;
  /** When it last got on. A check whose process died gets on no more. */
  readonly at: Date;
  /** Accounts. */
  readonly done: number;
  readonly total: number;
  readonly entries: number;
  readonly broken: readonly LedgerVerdict[];
  readonly expiresAt: Date;
}

/** Most broken ledgers that are kept. Many broken ones have one cause. */
const BROKEN_MAX = 100;
const KEPT_MS = 30 * 86_400_000;
/** How often progress is stored, at most. */
const NOTE_MS = 500;

type RunDeps = Pick<GatewayDeps, 'db' | 'clock' | 'log' | 'stopping'>;

/** Runs checks, one at a time in this process, whoever asks: a second one would only make both slower. */
class LedgerChecks {
  readonly #deps: RunDeps;
  #running: LedgerCheckDocument | undefined;

  constructor(deps: RunDeps) {
    this.#deps = deps;
  }

  get running(): LedgerCheckDocument | undefined {
    return this.#running;
  }

  /** Begins one, when none is running. Resolves when it is stored. */
  async begin(account: AccountId | undefined): Promise<LedgerCheckDocument> {
    const { db, clock } = this.#deps;
    const now = clock.now();
    const check: LedgerCheckDocument = {
      _id: newId('chk', now.getTime()),
      ...(account === undefined ? {} : { account }),
      ...{ state: 'running', startedAt: now, at: now, done: 0, total: account === undefined ? 0 : 1, entries: 0 },
      ...{ broken: [], expiresAt: new Date(now.getTime() + KEPT_MS) },
    };
    this.#running = check;
    try {
      await checks(db).insertOne(check);
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
    void runCheck(this.#deps, check).finally(() => {
      this.#running = undefined;
    });
    return check;
  }
}

/**
 * Walks the ledgers one after the other, in this process, and stores how far it is. The store reads a thousand entries at a time,
 * and other requests are served in between. Never rejects. A process that stops leaves the check as it is: it reads only.
 */
async function runCheck(deps: RunDeps, check: LedgerCheckDocument): Promise<void> {
  const { db, clock, log, stopping } = deps;
  const { _id: id, account } = check;
  let { done, total, entries, broken } = check;
  const note = async (state: LedgerCheckDocument['state']): Promise<void> => {
    const progress = { state, at: clock.now(), done, total, entries, broken };
    await checks(db).updateOne({ _id: id }, { $set: progress });
  };
  try {
    const ids = account === undefined ? (await listAccounts(db)).map(({ _id }) => _id) : [account];
    total = ids.length;
    let notedMs = Number.NEGATIVE_INFINITY;
    for (const one of ids) {
      if (stopping.aborted) return;
      const verdict = await verifyLedger(db, one);
      done++;
      entries += verdict.entries;
      if (verdict.problems.length > 0 && broken.length < BROKEN_MAX) broken = [...broken, verdict];
      if (clock.monotonicMs() - notedMs >= NOTE_MS) {
        notedMs = clock.monotonicMs();
        await note('running');
      }
      await setImmediate();
    }
    await note('done');
    if (broken.length > 0) log.error('ledger_broken', { accounts: broken.map(({ account: of }) => of).join(' ') });
  } catch (error) {
    log.error('ledger_check_failed', errorFields(error));
    await note('failed').catch(() => {}); // Without a store it stays as it is, and is told as interrupted.
  }
}

export async function findCheck(db: Db, id: LedgerCheckId): Promise<LedgerCheckDocument | undefined> {
  return (await checks(db).findOne({ _id: id })) ?? undefined;
}

/** Newest first, older than `before`. */
export async function listChecks(
  db: Db,
  limit: number,
  before?: LedgerCheckId,
): Promise<readonly LedgerCheckDocument[]> {
  const place = before === undefined ? {} : { _id: { $lt: before } };
  return checks(db).find(place).sort({ _id: -1 }).limit(limit).toArray();
}

function checks(db: Db): Collection<LedgerCheckDocument> {
  return db.collection('ledger_checks');
}

export const ledgerChecksOf = perProcess((gateway) => new LedgerChecks(gateway));
