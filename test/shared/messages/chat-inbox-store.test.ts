import {
  dueItems,
  finishItems,
  type InboxItemDocument,
  keepItems,
  retryItem,
} from '../../../shared/messages/chat-inbox.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { NUMBER } from '../../support/chatapp.ts';
import { useStore } from '../../support/store.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

describe('chat-inbox/store', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(() => {
    account = newId('acc');
  });

  const item = (upstreamId: string, due: Date, owner = account): InboxItemDocument => ({
    _id: `${owner}:in:${upstreamId}`,
    account: owner,
    at: due,
    due,
    tries: 0,
    what: { kind: 'message', number: NUMBER, upstreamId, from: '919876543210', sentAt: due, type: 'text', body: 'hi' },
    weight: 300,
  });
  const due = async (accounts = [account], now = NOW, limit = 100): Promise<string[]> =>
    (await dueItems(store.db, accounts, now, limit)).items.map(({ _id }) => _id.split(':').at(-1) ?? '');

  it('gives what is due by now of the accounts asked for, of each the longest due first, no more than asked for', async () => {
    const other = newId('acc', Date.now() + 5); // ids sort by time
    const third = newId('acc');
    await keepItems(store.db, [item('b', at(-2)), item('later', at(1)), item('a', at(-3)), item('now', at(0))]);
    await keepItems(store.db, [item('c', at(-2.5), other), item('foreign', at(-9), third)]);

    expect(await due([account, other])).to.deep.equal(['a', 'b', 'now', 'c']);
    expect(await due([other, account], NOW, 2)).to.deep.equal(['a', 'b']);
    expect(await due([])).to.deep.equal([]);
  });

  it('keeps what is worked off, so that it is not taken again', async () => {
    const [one, two] = [item('1', at(-2)), item('2', at(-1))];
    await keepItems(store.db, [one, two]);

    await finishItems(store.db, [one._id]);
    await finishItems(store.db, [one._id]);
    await keepItems(store.db, [one, two, item('3', at(-0.5))]);

    expect(await due()).to.deep.equal(['2', '3']);
    const kept = await store.db.collection('chat_inbox').find({ account }).sort({ _id: 1 }).toArray();
    // Kept for longer than providers repeat a post. An unfinished item never expires.
    expect(kept.map(({ expiresAt }) => expiresAt)).to.deep.equal([at(-2 + 8 * 86_400), undefined, undefined]);
  });

  it('looks at a retried item again at its time, and counts; one that is worked off stays so', async () => {
    const [one, two] = [item('1', at(-2)), item('2', at(-1))];
    await keepItems(store.db, [one, two]);
    await finishItems(store.db, [two._id]);

    await retryItem(store.db, one._id, at(5));
    await retryItem(store.db, two._id, at(5));

    expect(await due()).to.deep.equal([]);
    const {
      items: [again, ...more],
    } = await dueItems(store.db, [account], at(5), 10);
    expect(again).to.include({ _id: one._id, tries: 1 });
    expect(more).to.deep.equal([]);
  });

  it('gives fewer items when they are heavy, one at least, and says that there are more', async () => {
    const weighing = (weight: number) => (owner: AccountId, i: number) => ({
      ...item(String(i), at(i - 1_000), owner),
      weight,
    });
    for (const [weight, items, more] of [
      [300, 100, true],
      [131_072, 4, true],
      [10_000_000, 1, true],
    ] as const) {
      const owner = newId('acc');
      await keepItems(
        store.db,
        Array.from({ length: 110 }, (_, i) => weighing(weight)(owner, i)),
      );

      const page = await dueItems(store.db, [owner], NOW, 100);

      expect([page.items.length, page.more], String(weight)).to.deep.equal([items, more]);
      expect(page.items.map(({ _id }) => _id)).to.deep.equal(
        Array.from({ length: items }, (_, i) => `${owner}:in:${i}`),
      );
    }
    const owner = newId('acc');
    await keepItems(store.db, [weighing(300)(owner, 1)]);
    expect((await dueItems(store.db, [owner], NOW, 100)).more).to.equal(false);
  });

  it('gives what is due of an account with more than a store would sort', async () => {
    const body = 'x'.repeat(1_000_000);
    for (let i = 0; i < 110; i++) {
      const { what, ...rest } = item(String(i), at(i - 1_000));
      await keepItems(store.db, [{ ...rest, what: { ...what, body } as InboxItemDocument['what'], weight: 1_000_000 }]);
    }
    const other = newId('acc', Date.now() + 5);
    await keepItems(store.db, [item('other', at(-1), other)]);

    expect(await due([account, other])).to.deep.equal(['0']);
    expect(await due([other])).to.deep.equal(['other']);
  });

  it('writes no command that is heavier than a few of the largest items', async () => {
    const sizes: number[] = [];
    const counting = new Proxy(store.db, {
      get(target, property) {
        if (property !== 'command') return Reflect.get(target, property);
        return (command: { documents: unknown[] }, ...rest: never[]) => {
          sizes.push(command.documents.length);
          return target.command(command, ...rest);
        };
      },
    });
    const heavy = Array.from({ length: 10 }, (_, i) => ({ ...item(`h${i}`, at(-1)), weight: 131_072 }));

    await keepItems(counting, [...heavy, ...Array.from({ length: 300 }, (_, i) => item(`l${i}`, at(-1)))]);

    expect(sizes).to.deep.equal([4, 4, 250, 52]);
    expect(await due([account], NOW, 1_000)).to.have.lengthOf(4);
  });

  it('adds nothing when ten store the same at once', async () => {
    const items = Array.from({ length: 50 }, (_, i) => item(String(i), at(-1)));

    await Promise.all(Array.from({ length: 10 }, () => keepItems(store.db, items)));

    expect(await due([account])).to.have.lengthOf(50);
  });
});
