import type { Collection, Db } from 'mongodb';
import { STATES } from '../../../shared/messages/document/status.ts';
import type { VerificationDocument } from '../../../shared/messages/document/verification.ts';
import { countedFrom, HOUR_MS, type HourName, hourName, hourStart } from '../../../shared/messages/statistics.ts';
import { prefixOf } from '../../../shared/messages/traffic/hold.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { type AccountId, idTime } from '../../../shared/platform/runtime/ids.ts';
import type { Counted } from './counted.ts';

export interface Counts {
  readonly messages: number;
  /** Those that ended, or had time to: the others say nothing about how many arrive. */
  readonly ripe: number;
  readonly delivered: number;
  /** Verifications that ended, or had time to, and those that were approved. Absent in hours without any. */
  readonly asked?: number;
  readonly approved?: number;
}

/** What became of an account's messages in one hour, by prefix. Counted with the statistics, for accounts with a brake alone. */
interface PrefixHourDocument {
  readonly _id: `${AccountId}:${HourName}`;
  readonly account: AccountId;
  /** The most frequent ones. */
  readonly prefixes: readonly (Counts & { readonly prefix: string })[];
  readonly expiresAt: Date;
}

const PREFIXES_MAX = 200;
/** So many are told apart while an hour is counted. Whoever sends to more at once is not pumped at one. */
const TOLD_APART_MAX = 5_000;
/** What has had so much time and no receipt has not arrived. */
const RIPE_MS = 15 * 60_000;
export const USUAL_DAYS = 14;
const KEPT_MS = (USUAL_DAYS + 2) * 86_400_000;

function prefixHours(db: Db): Collection<PrefixHourDocument> {
  return db.collection('prefix_hours');
}

/** The accounts that want to know. */
export async function readBraked(db: Db): Promise<readonly Pick<AccountDocument, '_id' | 'brake' | 'heldPrefixes'>[]> {
  return db
    .collection<AccountDocument>('accounts')
    .find({ brake: { $exists: true } }, { projection: { brake: 1, heldPrefixes: 1 } })
    .toArray();
}

export type CountedVerification = Pick<VerificationDocument, '_id' | 'account' | 'to' | 'state' | 'expiresAt'>;

interface Counting {
  messages: number;
  ripe: number;
  delivered: number;
  asked?: number;
  approved?: number;
}

/** Counts the messages of one hour, and the verifications. */
export class PrefixTally {
  readonly #accounts: ReadonlyMap<AccountId, Map<string, Counting>>;
  readonly #now: Date;

  constructor(accounts: readonly AccountId[], now: Date) {
    this.#accounts = new Map(accounts.map((id) => [id, new Map()]));
    this.#now = now;
  }

  add({ _id, account, to, state, direction }: Counted): void {
    const counts = direction === 'in' ? undefined : this.#of(account, to);
    if (counts === undefined) return;
    counts.messages++;
    if (STATES[state].final || this.#now.getTime() - idTime(_id).getTime() >= RIPE_MS) counts.ripe++;
    if (state === 'delivered' || state === 'read') counts.delivered++;
  }

  /** Whether any account wants to know. */
  get wanted(): boolean {
    return this.#accounts.size > 0;
  }

  addVerification({ _id, account, to, state, expiresAt }: CountedVerification): void {
    const ripeMs = Math.min(idTime(_id).getTime() + RIPE_MS, expiresAt.getTime());
    const isOpen = state === 'pending' && this.#now.getTime() < ripeMs;
    const counts = isOpen ? undefined : this.#of(account, to);
    if (counts === undefined) return;
    counts.asked = (counts.asked ?? 0) + 1;
    counts.approved = (counts.approved ?? 0) + (state === 'approved' ? 1 : 0);
  }

  /** Undefined where nobody wants to know. */
  #of(account: AccountId, to: string): Counting | undefined {
    const prefixes = this.#accounts.get(account);
    if (prefixes === undefined) return undefined;
    const prefix = prefixOf(to);
    let counts = prefixes.get(prefix);
    if (counts === undefined && prefixes.size < TOLD_APART_MAX) {
      counts = { messages: 0, ripe: 0, delivered: 0 };
      prefixes.set(prefix, counts);
    }
    return counts;
  }

  async store(db: Db, hour: HourName): Promise<void> {
    const expiresAt = new Date(hourStart(hour).getTime() + KEPT_MS);
    const writes = [...this.#accounts].flatMap(([account, counts]) => {
      if (counts.size === 0) return [];
      const _id: PrefixHourDocument['_id'] = `${account}:${hour}`;
      const prefixes = [...counts]
        .map(([prefix, of]) => ({ prefix, ...of }))
        .sort((a, b) => b.messages - a.messages)
        .slice(0, PREFIXES_MAX);
      const replacement = { account, prefixes, expiresAt };
      return [{ replaceOne: { filter: { _id }, replacement, upsert: true } }];
    });
    if (writes.length > 0) await prefixHours(db).bulkWrite(writes, { ordered: false });
  }
}

/** By hour, from `from` up to, not including, `end`. */
export async function readPrefixHours(
  db: Db,
  account: AccountId,
  from: Date,
  end: Date,
): Promise<readonly { readonly atMs: number; readonly prefixes: PrefixHourDocument['prefixes'] }[]> {
  const found = await prefixHours(db)
    .find({ _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:${hourName(end)}` } })
    .sort({ _id: 1 })
    .batchSize(USUAL_DAYS * 24 + 1)
    .toArray();
  return found.map((one) => ({ atMs: countedFrom(one).getTime(), prefixes: one.prefixes }));
}

export function recentHours(now: Date): { readonly from: Date; readonly end: Date } {
  const running = hourStart(hourName(now)).getTime();
  return { from: new Date(running - HOUR_MS), end: new Date(running + HOUR_MS) };
}
