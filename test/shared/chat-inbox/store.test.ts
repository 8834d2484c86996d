import { expect } from 'chai';
import type { InboxItemDocument } from '../../../shared/chat-inbox/inbox-item.ts';
import { dueItems, finishItems, keepItems, retryItem } from '../../../shared/chat-inbox/store.ts';
import { type AccountId, newId } from '../../../shared/runtime/ids.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

describe('chat-inbox/store', () => {
  let store: TestStore;
  let account: AccountId;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(() => {
    account = newId('acc');
  });

  const item = (upstreamId: string, due: Date, owner = account): InboxItemDocument => ({
    _id: `${owner}:in:${upstreamId}`,
    account: owner,
    at: due,
    due,
    tries: 0,
    what: { kind: 'message', upstreamId, from: '919876543210', sentAt: due, type: 'text', body: 'hi' },
  });
  const due = async (accounts = [account], now = NOW, limit = 100): Promise<string[]> =>
    (await dueItems(store.db, accounts, now, limit)).map(({ _id }) => _id.split(':').at(-1) ?? '');

  it('gives what is due by now of the accounts asked for, the longest due first, no more than asked for', async () => {
    const other = newId('acc');
    const third = newId('acc');
    await keepItems(store.db, [item('b', at(-2)), item('later', at(1)), item('a', at(-3)), item('now', at(0))]);
    await keepItems(store.db, [item('c', at(-2.5), other), item('foreign', at(-9), third)]);

    expect(await due([account, other])).to.deep.equal(['a', 'c', 'b', 'now']);
    expect(await due([account, other], NOW, 2)).to.deep.equal(['a', 'c']);
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
    // Longer than providers post again; what is not worked off never expires.
    expect(kept.map(({ expiresAt }) => expiresAt)).to.deep.equal([at(-2 + 8 * 86_400), undefined, undefined]);
  });

  it('looks at a retried item again at its time, and counts; one that is worked off stays so', async () => {
    const [one, two] = [item('1', at(-2)), item('2', at(-1))];
    await keepItems(store.db, [one, two]);
    await finishItems(store.db, [two._id]);

    await retryItem(store.db, one._id, at(5));
    await retryItem(store.db, two._id, at(5));

    expect(await due()).to.deep.equal([]);
    const [again, ...more] = await dueItems(store.db, [account], at(5), 10);
    expect(again).to.include({ _id: one._id, tries: 1 });
    expect(more).to.deep.equal([]);
  });

  it('adds nothing when ten store the same at once', async () => {
    const items = Array.from({ length: 50 }, (_, i) => item(String(i), at(-1)));

    await Promise.all(Array.from({ length: 10 }, () => keepItems(store.db, items)));

    expect(await due([account])).to.have.lengthOf(50);
  });
});
