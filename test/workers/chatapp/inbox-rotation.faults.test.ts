import { MongoNetworkError, MongoServerError } from 'mongodb';
import { keepItems } from '../../../shared/messages/chat-inbox.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import type { HeldPartition } from '../../../workers/chatapp/held-partition.ts';
import { InboxRotation, type InboxRotationOptions } from '../../../workers/chatapp/inbox.ts';
import { createChatMetrics } from '../../../workers/chatapp/metrics.ts';
import { silentLog } from '../../support/silent-log.ts';
import { type TestStore, useStore } from '../../support/store.ts';
import { makeItem, makeStatus } from './make.ts';

describe('chatapp worker: rotation at the inbox', () => {
  const store = useStore();
  let accounts: AccountId[];
  let nowMs: number;
  let told: object[];
  /** The groups that were worked off, as the account of each item. */
  let groups: AccountId[][];
  beforeEach(async () => {
    await store.db.collection('chat_inbox').deleteMany({});
    accounts = Array.from({ length: 7 }, (_, i) => newId('acc', Date.now() + i)); // ids sort by time
    nowMs = 0;
    told = [];
    groups = [];
  });

  let posted = 0;
  const post = (account: AccountId | undefined, count: number): Promise<void> =>
    keepItems(
      store.db,
      Array.from({ length: count }, () => makeItem(account ?? 'acc_', makeStatus({ upstreamId: `wamid.${++posted}` }))),
    );
  const partition = (lease: string) => ({ lease }) as HeldPartition; // the rotation reads only this field
  const [even, odd] = [partition('chatapp:0'), partition('chatapp:1')];

  /** Works off each item at its first try, unless `workOff` is overridden. */
  function rotation(override: Partial<InboxRotationOptions> = {}): InboxRotation {
    return new InboxRotation({
      db: store.db,
      clock: { now: () => systemClock.now(), monotonicMs: () => nowMs },
      log: { ...silentLog, error: (event, fields) => void told.push({ event, ...fields }) },
      metrics: createChatMetrics(new Metrics()),
      partitionOf: (account) => (accounts.indexOf(account) % 2 === 0 ? even : odd),
      workOff: async (items) => {
        groups.push(items.map(({ account }) => account));
        const ids = items.map(({ _id }) => _id as never);
        await store.db.collection('chat_inbox').updateMany({ _id: { $in: ids } }, { $unset: { due: '' } });
      },
      ...override,
    });
  }

  function failingFor(account: AccountId | undefined, error: Error): TestStore['db'] {
    return new Proxy(store.db, {
      get(target, property) {
        if (property !== 'command') return Reflect.get(target, property);
        return async (command: { filter?: { account?: { $in: AccountId[] } } }, ...rest: never[]) => {
          if (account !== undefined && command.filter?.account?.$in.includes(account)) throw error;
          return target.command(command, ...rest);
        };
      },
    });
  }
  const sortTooLarge = () => new MongoServerError({ message: 'Sort exceeded memory limit', code: 292 });

  it('every account has its turn, however much the others have, also those before the place where it stopped', async () => {
    const [a, b, c, d, e, last] = accounts;
    for (const flooded of [b, c, d, e, last]) await post(flooded, 450);
    await post(a, 1);
    const inTurns = rotation();

    await inTurns.work(accounts);
    const first = new Set(groups.splice(0).flat());
    await post(a, 1);
    await inTurns.work(accounts);
    const second = new Set(groups.splice(0).flat());

    expect(first).to.deep.equal(new Set([a, b, c, d, e]));
    expect(second).to.deep.equal(new Set([a, b, c, last]));
    for (let i = 0; i < 5; i++) await inTurns.work(accounts);
    expect(await inTurns.work(accounts)).to.equal(false);
    expect(await store.db.collection('chat_inbox').countDocuments({ due: { $exists: true } })).to.equal(0);
  });

  it('an account whose items the store cannot give is set aside, and told; the others go on', async () => {
    for (const account of accounts) await post(account, 2);
    const inTurns = rotation({ db: failingFor(accounts[3], sortTooLarge()) });

    expect(await inTurns.work(accounts)).to.equal(true);
    const others = accounts.filter((account) => account !== accounts[3]);
    expect(new Set(groups.flat())).to.deep.equal(new Set(others));
    await inTurns.work(accounts);

    expect(told).to.have.lengthOf(1);
    expect(told[0]).to.include({ event: 'inbox_account_set_aside', account: accounts[3], pause_ms: 30_000 });
    nowMs = 30_000;
    await inTurns.work(accounts);
    expect(told).to.have.lengthOf(2);
  });

  it('an account whose items cannot be worked off is set aside; those of the same share go on', async () => {
    for (const account of accounts) await post(account, 2);
    const done: AccountId[] = [];
    const inTurns = rotation({
      workOff: async (items) => {
        const group = items.map(({ account }) => account);
        if (accounts[2] !== undefined && group.includes(accounts[2])) throw new RangeError('out of range');
        done.push(...group);
      },
    });

    await inTurns.work(accounts);

    expect(new Set(done)).to.deep.equal(new Set(accounts.filter((account) => account !== accounts[2])));
    expect(told).to.have.lengthOf(1);
    expect(told[0]).to.include({ event: 'inbox_account_set_aside', account: accounts[2] });
  });

  it('a store that is away is nobody’s fault: it throws, when all that was begun has ended', async () => {
    for (const account of accounts) await post(account, 1);
    let ended = false;
    const away = new MongoNetworkError('connection closed');
    const inTurns = rotation({
      workOff: async (_items, duty) => {
        if (duty === even) throw away;
        await new Promise((resolve) => setImmediate(resolve));
        ended = true;
      },
    });
    const unread = rotation({ db: failingFor(accounts[0], away) });

    const thrown = await inTurns.work(accounts).catch((error: unknown) => error);
    expect([thrown, ended]).to.deep.equal([away, true]);
    expect(await unread.work(accounts).catch((error: unknown) => error)).to.equal(away);
    expect(told).to.deep.equal([]);
  });
});
