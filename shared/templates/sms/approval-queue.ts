import type { Db } from 'mongodb';
import type { CtaDocument } from '../../carriers/cta.ts';
import type { SenderDocument } from '../../carriers/sender.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { finishNamed } from './request-store.ts';
import type { TemplateDocument, TemplateRequestDocument } from './template.ts';

export type Waiting = SenderDocument | CtaDocument | TemplateDocument | TemplateRequestDocument;

/** `status`: while waiting. Each collection has the index `queue`. */
interface Source {
  readonly collection: 'senders' | 'ctas' | 'templates' | 'template_requests';
  readonly status: 'submitted' | 'requested';
}

const SENDERS: readonly Source[] = [{ collection: 'senders', status: 'submitted' }];
const CTAS: readonly Source[] = [{ collection: 'ctas', status: 'submitted' }];
const TEMPLATES: readonly Source[] = [
  { collection: 'template_requests', status: 'requested' },
  { collection: 'templates', status: 'submitted' },
];

const QUEUES = {
  senders: SENDERS,
  ctas: CTAS,
  templates: TEMPLATES,
  all: [...SENDERS, ...CTAS, ...TEMPLATES],
} as const;
export type Queue = keyof typeof QUEUES;

/** Things of one account that are shown before the next account's turn. */
const SHOWN_OF_EACH = 3;
/** Documents read at once. Further ones of the same account are skipped. */
const CHUNK = 24;
/** Per account and kind. */
const COUNTED_MAX = 1_000;

export interface Turn {
  readonly account: AccountId;
  readonly oldest: readonly Waiting[];
  /** Counted up to 1,000 of each kind. */
  readonly waiting: number;
}

export interface Turns {
  readonly turns: readonly Turn[];
  /** The last account of this page. Undefined on the last page. */
  readonly next: AccountId | undefined;
}

/**
 * The oldest things of each account that has any waiting, so that nobody hides others by asking for much. `limit`:
 * things at most. Pages go by the accounts' ids; on a page the account that has waited longest comes first.
 */
export async function readTurns(
  db: Db,
  clock: Clock,
  queue: Queue,
  after: AccountId | undefined,
  limit: number,
): Promise<Turns> {
  const few = Math.min(SHOWN_OF_EACH, limit);
  const sources = await Promise.all(
    QUEUES[queue].map(async (source) => ({ source, oldest: await oldestOfEach(db, source, after, limit, few) })),
  );
  const accounts = [...new Set(sources.flatMap(({ oldest }) => [...oldest.keys()]))].sort();
  const turns: { account: AccountId; oldest: readonly Waiting[] }[] = [];
  let shown = 0;
  for (const account of accounts) {
    const oldest = sources.flatMap((one) => one.oldest.get(account) ?? []).sort(byAge);
    shown += Math.min(oldest.length, few);
    if (shown > limit) break;
    turns.push({ account, oldest: oldest.slice(0, few) });
  }
  const counted = await Promise.all(
    turns.map(async (turn): Promise<Turn> => {
      const counts = sources.map(({ source, oldest }) => {
        const known = oldest.get(turn.account)?.length ?? 0;
        return known < few ? known : countOf(db, source, turn.account);
      });
      const waiting = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
      return { ...turn, oldest: await finishNamed(db, clock, turn.oldest), waiting };
    }),
  );
  return {
    turns: counted.sort((a, b) => ageOf(a) - ageOf(b)),
    next: turns.length < accounts.length ? turns.at(-1)?.account : undefined,
  };
}

function ageOf({ oldest: [first] }: Turn): number {
  return first?.createdAt.getTime() ?? 0;
}

/** The oldest `few` of each account after `behind`: in all more than `most`, unless there are no more. */
async function oldestOfEach(
  db: Db,
  source: Source,
  after: AccountId | undefined,
  most: number,
  few: number,
): Promise<ReadonlyMap<AccountId, readonly Waiting[]>> {
  const oldest = new Map<AccountId, Waiting[]>();
  let behind: string = after ?? '';
  for (let kept = 0; kept <= most; kept = sizeOf(oldest)) {
    const found = await find(db, source, { account: { $gt: behind } }, CHUNK);
    for (const one of found) {
      const own = oldest.get(one.account) ?? [];
      if (own.length < few) oldest.set(one.account, [...own, one]);
    }
    const [last, before] = [...oldest.keys()].reverse();
    if (found.length < CHUNK || last === undefined) break;
    // The chunk may end within the last account, which is then read again, as the first of the next chunk.
    const isWhole = (oldest.get(last)?.length ?? 0) === few || before === undefined;
    if (!isWhole) oldest.delete(last);
    behind = isWhole ? last : before;
  }
  return oldest;
}

function sizeOf(oldest: ReadonlyMap<AccountId, readonly Waiting[]>): number {
  return [...oldest.values()].reduce((sum, own) => sum + own.length, 0);
}

export interface AgePlace {
  readonly at: Date;
  readonly id: string;
}

export interface WaitingOfAccount {
  readonly found: readonly Waiting[];
  readonly waiting: number;
}

/** Oldest first. */
export async function readWaitingOf(
  db: Db,
  clock: Clock,
  queue: Queue,
  account: AccountId,
  after: AgePlace | undefined,
  limit: number,
): Promise<WaitingOfAccount> {
  const sources = QUEUES[queue];
  const [found, counts] = await Promise.all([
    Promise.all(sources.map((source) => find(db, source, { account, ...(after && behindPlace(after)) }, limit))),
    Promise.all(sources.map((source) => countOf(db, source, account))),
  ]);
  const oldest = found.flat().sort(byAge).slice(0, limit);
  return {
    found: await finishNamed(db, clock, oldest),
    waiting: counts.reduce((sum, count) => sum + count, 0),
  };
}

/** The first condition makes the index begin at the right place. */
function behindPlace({ at, id }: AgePlace): object {
  return { createdAt: { $gte: at }, $or: [{ createdAt: { $gt: at } }, { _id: { $gt: id } }] };
}

function find(db: Db, { collection, status }: Source, filter: object, limit: number): Promise<Waiting[]> {
  return db
    .collection(collection)
    .find({ status, ...filter })
    .sort({ account: 1, createdAt: 1, _id: 1 })
    .limit(limit)
    .project<Waiting>({})
    .toArray();
}

function byAge(a: Waiting, b: Waiting): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1);
}

function countOf(db: Db, { collection, status }: Source, account: AccountId): Promise<number> {
  return db.collection(collection).countDocuments({ status, account }, { limit: COUNTED_MAX });
}

/** Counts the waiting things of all accounts, by source, up to `limit`. */
export async function countWaiting(db: Db, queue: Queue, limit: number): Promise<number> {
  const counts = await Promise.all(
    QUEUES[queue].map(({ collection, status }) =>
      // The account lets the store use the index of the queue.
      db.collection(collection).countDocuments({ status, account: { $gt: '' } }, { limit }),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** When the newest waiting thing was asked for, if after `since`. */
export async function newestWaiting(db: Db, since: Date): Promise<Date | undefined> {
  const found = await Promise.all(
    QUEUES.all.map(({ collection, status }) =>
      db
        .collection<Pick<Waiting, 'account' | 'createdAt'>>(collection)
        // The account lets the store use the index of the queue.
        .find({ ...{ status }, account: { $gt: '' as AccountId }, createdAt: { $gt: since } })
        .project<Pick<Waiting, 'createdAt'>>({ createdAt: 1 })
        .sort({ createdAt: -1 })
        .limit(1)
        .toArray(),
    ),
  );
  return found
    .flat()
    .map(({ createdAt }) => createdAt)
    .sort((a, b) => b.getTime() - a.getTime())[0];
}
