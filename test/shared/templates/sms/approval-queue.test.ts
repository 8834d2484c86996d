import type { Db } from 'mongodb';
import type { SenderDocument } from '../../../../shared/carriers/sender.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { readTurns, readWaitingOf, type Turn, type Waiting } from '../../../../shared/templates/sms/approval-queue.ts';
import {
  type TemplateDocument,
  type TemplateRequestDocument,
  templateKey,
} from '../../../../shared/templates/sms/template.ts';
import { lookedAt } from '../../../support/looked-at.ts';
import { makeAccount } from '../../../support/make.ts';
import { openTestStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

const LONG_AGO = Date.now() - 86_400_000;
const at = (n: number) => new Date(LONG_AGO + n * 1_000);
const about = { name: 'Order', senders: ['HARKRA'], routes: ['transactional'], content: 'Order {#var#}' } as const;

const template = (account: AccountId, n: number): TemplateDocument => {
  const dltId = String(1_107_160_000_000_000 + n);
  return { ...about, _id: templateKey(account, dltId), account, dltId, status: 'submitted', createdAt: at(n) };
};
const request = (account: AccountId, n: number): TemplateRequestDocument => ({
  ...{ ...about, _id: newId('tpr'), account, status: 'requested', place: n, createdAt: at(n) },
});
const sender = (account: AccountId, n: number): SenderDocument => ({
  ...{ _id: newId('snd'), account, sender: `S${n}`, routes: ['transactional'], status: 'submitted', createdAt: at(n) },
});

const store = async (db: Db, documents: readonly Waiting[]): Promise<void> => {
  const of = <Doc extends Waiting>(is: (one: Waiting) => one is Doc) => documents.filter(is);
  const all = [
    db.collection<SenderDocument>('senders').insertMany(of((one): one is SenderDocument => 'sender' in one)),
    db
      .collection<TemplateDocument>('templates')
      .insertMany(of((one): one is TemplateDocument => one._id.includes(':'))),
    db
      .collection<TemplateRequestDocument>('template_requests')
      .insertMany(of((one): one is TemplateRequestDocument => one._id.startsWith('tpr_'))),
  ];
  await Promise.all(all);
};

describe('the approval queue', () => {
  const testStore = use(openTestStore);
  let db: Db;
  let greedy: AccountId;
  let others: readonly AccountId[];

  before(async () => {
    db = testStore.db;
    greedy = await makeAccount(db, 0);
    others = [await makeAccount(db, 0), await makeAccount(db, 0), await makeAccount(db, 0)];
    const [first = greedy, second = greedy, third = greedy] = others;
    await store(db, [
      ...Array.from({ length: 3_000 }, (_, n) => template(greedy, n)),
      request(greedy, 4_000),
      ...[sender(first, 5_000), request(second, 6_000), template(third, 7_000)],
      ...[sender(third, 8_000), request(third, 9_000), template(third, 9_001), template(third, 9_002)],
    ]);
  });

  const shownOf = ({ account, oldest, waiting }: Turn) => [account, oldest.length, waiting];

  it('shows each account once, however much one has asked for, and the one that waits longest first', async () => {
    const { turns, next } = await readTurns(db, systemClock, 'all', undefined, 50);

    expect(turns.map(shownOf)).to.deep.equal([
      [greedy, 3, 1_001], // 3,000 templates, counted up to 1,000
      [others[0], 1, 1],
      [others[1], 1, 1],
      [others[2], 3, 5],
    ]);
    expect(turns[3]?.oldest.map(({ createdAt }) => createdAt)).to.deep.equal([at(7_000), at(8_000), at(9_000)]);
    expect(next).to.equal(undefined);
  });

  it('the pages together have every account once, whatever their size', async () => {
    for (const limit of [1, 2, 3, 4, 6, 7]) {
      const seen: AccountId[] = [];
      let after: AccountId | undefined;
      do {
        const { turns, next } = await readTurns(db, systemClock, 'all', after, limit);
        const things = turns.reduce((sum, { oldest }) => sum + oldest.length, 0);
        expect(things, `limit ${limit}`).to.be.within(1, limit);
        seen.push(...turns.map(({ account }) => account));
        after = next;
      } while (after !== undefined);
      expect(seen.sort(), `limit ${limit}`).to.deep.equal([greedy, ...others].sort());
    }
  });

  it('of one account it pages through everything, oldest first, each thing once', async () => {
    const seen: Waiting[] = [];
    for (;;) {
      const last = seen.at(-1);
      const after = last && { at: last.createdAt, id: last._id };
      const { found, waiting } = await readWaitingOf(db, systemClock, 'all', greedy, after, 500);
      expect(waiting).to.equal(1_001);
      if (found.length === 0) break;
      seen.push(...found);
    }
    expect(seen).to.have.length(3_001);
    expect(new Set(seen.map(({ _id }) => _id)).size).to.equal(3_001);
    expect(seen.map(({ createdAt }) => createdAt)).to.deep.equal(
      seen.map(({ createdAt }) => createdAt).toSorted((a, b) => a.getTime() - b.getTime()),
    );
  });

  it('reads what it shows: a page over the 3,000 of one account reads a few dozen', async () => {
    const queue = db.collection<TemplateDocument>('templates');
    const turn = { account: 1, createdAt: 1, _id: 1 } as const;
    for (const filter of [{ account: { $gt: '' as AccountId } }, { account: greedy, createdAt: { $gte: at(1_500) } }]) {
      const found = queue
        .find({ status: 'submitted', ...filter })
        .sort(turn)
        .limit(24);
      expect((await lookedAt(db, found)).documents).to.be.at.most(24);
    }
  });
});
