import type { RouteDocument } from '../../../shared/carriers/routing/route.ts';
import {
  batchCollection,
  beginStop,
  chunksOf,
  insertChunks,
  readChunk,
  removeChunks,
  reserveNext,
} from '../../../shared/messages/batch.ts';
import { unpackLines } from '../../../shared/messages/queue/queue-document.ts';
import { queueOf } from '../../../shared/messages/queue/queue-store.ts';
import { type AccountId, batchMessageIds, queueId } from '../../../shared/platform/runtime/ids.ts';
import { parseContent } from '../../../shared/templates/sms/pattern.ts';
import { makeReserved, splitNext } from '../../../workers/batches/split.ts';
import { makeBatch, makeEntries, payBatch } from '../../support/batches.ts';
import { eventually } from '../../support/eventually.ts';
import { makeAccount } from '../../support/make.ts';
import { batchesWorld, PLAIN } from './world.ts';

describe('batches worker', () => {
  const { store, messages, messagesOf, read, work, closed } = batchesWorld();

  describe('splits', () => {
    it('a plain batch into one queued message for each entry, with ids in their order, and removes the chunks', async () => {
      const account = await makeAccount(store.db, 2_500);
      const batch = makeBatch(account, 2_300, { reference: 'spring' });
      await payBatch(store.db, batch);

      await work();

      expect(await closed(batch._id)).to.include({ state: 'split', done: 2_300, reserved: 2_300 });
      const made = await messagesOf(batch._id);
      const idOf = batchMessageIds(batch._id);
      expect(made.map(({ _id, to }) => ({ _id, to }))).to.deep.equal(
        makeEntries(2_300).map(({ to }, i) => ({ _id: idOf(i), to })),
      );
      const { group } = await read(batch._id);
      expect(made[2_299]).to.deep.include({
        account,
        group,
        batch: batch._id,
        lane: 2,
        state: 'queued',
        text: 'hello',
        encoding: 'GSM7',
        segments: 1,
        reference: 'spring',
        due: batch.validUntil,
      });
      expect(await readChunk(store.db, batch, 0)).to.equal(undefined);
      expect(await readChunk(store.db, batch, 2_299)).to.equal(undefined);
    });

    it('into messages that keep the ids of DLT', async () => {
      const account = await makeAccount(store.db, 20);
      const dltId = '1107160000000000001';
      const entityId = '1101160000000000009';
      const content = { kind: 'text', text: 'hello', encoding: 'GSM7', segments: 1, dltId } as const;
      const batch = makeBatch(account, 20, { content, entityId });
      await payBatch(store.db, batch);

      await work();

      await closed(batch._id);
      const made = await messagesOf(batch._id);
      expect(made).to.have.length(20);
      for (const message of made) expect(message).to.include({ template: dltId, entityId });
    });

    it('a template in threads: each text with its own params, encoding and segments', async () => {
      const account = await makeAccount(store.db, 1_000);
      const parsed = parseContent('Hi {#var#}, code {#numeric#}');
      if (parsed.kind !== 'pattern') throw new Error('malformed');
      const content = {
        kind: 'template',
        dltId: '1107160000000012345',
        pattern: parsed.pattern,
        params: ['all', '0'],
      } as const;
      const entries = makeEntries(600).map(({ to }, i) =>
        i % 2 === 0 ? { to } : { to, params: [i === 301 ? 'नमस्ते' : `n${i}`, String(i)] },
      );
      const batch = makeBatch(account, 600, { content });
      await payBatch(store.db, batch, entries);

      await work();

      await closed(batch._id);
      const made = await messagesOf(batch._id);
      expect(made.map(({ text }) => text)).to.deep.equal(
        entries.map(({ params }) => (params === undefined ? 'Hi all, code 0' : `Hi ${params[0]}, code ${params[1]}`)),
      );
      expect(made[301]).to.include({ encoding: 'UCS2', segments: 1 });
      expect(made[303]).to.include({ encoding: 'GSM7', segments: 1 });
    });

    it('what another worker left half made, without touching what is there', async () => {
      const account = await makeAccount(store.db, 1_500);
      const batch = makeBatch(account, 1_500);
      await payBatch(store.db, batch);
      await reserveNext(store.db, await read(batch._id));
      const half = await read(batch._id);
      await makeReserved({ db: store.db, ...PLAIN }, { ...half, reserved: 300 });
      const idOf = batchMessageIds(batch._id);
      await messages().updateOne({ _id: idOf(7) }, { $set: { state: 'submitting' }, $inc: { v: 1 } });

      await work();

      await closed(batch._id);
      const made = await messagesOf(batch._id);
      expect(made).to.have.length(1_500);
      expect(made[7]).to.include({ state: 'submitting', v: 1 });
    });

    it('into lines of which nothing is written, if they have one path, by documents with the ids of their first entries', async () => {
      const account = await makeAccount(store.db, 250);
      const batch = makeBatch(account, 250);
      await payBatch(store.db, batch);

      await work();

      await closed(batch._id);
      expect(await messages().countDocuments({ batch: batch._id })).to.equal(0);
      const queued = await queueOf(store.db).find({ batch: batch._id }).sort({ _id: 1 }).toArray();
      const idOf = batchMessageIds(batch._id);
      expect(queued.map(({ _id, n, written }) => ({ _id, n, written }))).to.deep.equal(
        [100, 100, 50].map((n, i) => ({ _id: queueId(idOf(100 * i), 0), n, written: undefined })),
      );
    });

    it('entries of several paths into written lines of each', async () => {
      const routes = store.db.collection<RouteDocument>('routes');
      const to = (_id: string, prefix: string, carrier: string): RouteDocument => ({
        ...{ _id, order: 0, match: { prefixes: [prefix] }, waitSeconds: 30, createdAt: new Date(0) },
        groups: [[{ carrier, weight: 1 }]],
      });
      await routes.insertMany([to('one', '91', 'a'), to('other', '44', 'b')]);
      const account = await makeAccount(store.db, 120);
      const batch = makeBatch(account, 120);
      const entries = Array.from({ length: 120 }, (_, i) => ({ to: `${i % 3 === 0 ? '44' : '91'}700000${1_000 + i}` }));
      await payBatch(store.db, batch, entries);

      await work();

      await closed(batch._id);
      await routes.deleteMany({});
      const open = await queueOf(store.db).find({ batch: batch._id, open: true }).toArray();
      const lines = open.flatMap(({ path, written, lines }) =>
        unpackLines(lines).map(({ _id }) => ({ _id, path, written })),
      );
      const made = await messages().find({ batch: batch._id }).sort({ _id: 1 }).toArray();
      expect(made.map(({ path }) => path)).to.deep.equal(entries.map((_, i) => (i % 3 === 0 ? '@30:b' : '@30:a')));
      expect(lines).to.have.deep.members(made.map(({ _id, path }) => ({ _id, path, written: true })));
    });

    it('the batches of several accounts side by side', async () => {
      const many = await makeAccount(store.db, 10_000);
      const few = await makeAccount(store.db, 1_000);
      const first = makeBatch(many, 8_000);
      const second = makeBatch(few, 1_000);
      await payBatch(store.db, first);
      await payBatch(store.db, second);

      await work();

      await eventually(async () => (await read(second._id)).state === 'split', 'the small one');
      expect((await read(first._id)).state).to.equal('paid');
      await closed(first._id);
    });

    it('once, when two workers have the same batch in hand', async () => {
      const account = await makeAccount(store.db, 3_000);
      const batch = makeBatch(account, 3_000);
      await payBatch(store.db, batch);

      const play = async (): Promise<void> => {
        for (let now = await read(batch._id); now.state === 'paid'; now = await read(batch._id)) {
          await splitNext({ db: store.db, ...PLAIN }, now);
        }
      };
      await Promise.all([play(), play()]);

      const queued = await queueOf(store.db).find({ batch: batch._id }).toArray();
      const decided = queued.filter(({ written }) => !written).flatMap(({ lines }) => unpackLines(lines));
      const ids = decided.map(({ _id }) => _id);
      expect(new Set(ids).size, 'no message is two lines that both decide').to.equal(ids.length);
      expect(await messages().countDocuments({ _id: { $in: ids } }), 'nor in `messages`').to.equal(0);
      expect(await messagesOf(batch._id)).to.have.length(3_000);
      expect(await read(batch._id)).to.include({ state: 'split', done: 3_000 });
    });
  });

  it('does not stop for a batch that cannot be split', async () => {
    const account = await makeAccount(store.db, 20);
    const broken = makeBatch(account, 10);
    const other = await makeAccount(store.db, 10);
    const whole = makeBatch(other, 10);
    await payBatch(store.db, broken);
    await payBatch(store.db, whole);
    await batchCollection(store.db).updateOne({ _id: broken._id }, { $unset: { group: '' } });

    await work();

    await closed(whole._id);
    expect((await read(broken._id)).state).to.equal('paid');
    await batchCollection(store.db).deleteOne({ _id: broken._id });
  });

  describe('behind 501 open batches of another account', () => {
    /** Each fails, because it is not paid for. */
    const insertBroken = async (account: AccountId): Promise<void> => {
      const broken = Array.from({ length: 501 }, () => makeBatch(account, 1, { state: 'paid' }));
      await batchCollection(store.db).insertMany(broken);
      const chunks = broken.flatMap(({ _id }) => chunksOf(_id, makeEntries(1)));
      await insertChunks(store.db, chunks);
    };
    // The accounts in the worker's order.
    const makeAccounts = async (): Promise<readonly [AccountId, AccountId]> => {
      const [first, second] = [await makeAccount(store.db, 10), await makeAccount(store.db, 10)];
      return first < second ? [first, second] : [second, first];
    };
    afterEach(() => batchCollection(store.db).deleteMany({ state: 'paid' }));

    it('a batch is split', async () => {
      const [many, other] = await makeAccounts();
      await insertBroken(many);
      const batch = makeBatch(other, 10);
      await payBatch(store.db, batch);

      await work();

      expect(await closed(batch._id)).to.include({ state: 'split' });
    });

    it('a batch is stopped', async () => {
      const [many, other] = await makeAccounts();
      await insertBroken(many);
      const batch = makeBatch(other, 10);
      await payBatch(store.db, batch);
      await beginStop(store.db, batch._id);

      await work();

      expect(await closed(batch._id)).to.include({ state: 'stopped', stopped: 10 });
    });
  });

  it('splits what an account has behind a batch that fails each time', async () => {
    const account = await makeAccount(store.db, 20);
    const [broken, whole] = [makeBatch(account, 10), makeBatch(account, 10)];
    await payBatch(store.db, broken);
    await payBatch(store.db, whole);
    await batchCollection(store.db).updateOne({ _id: broken._id }, { $unset: { group: '' } });

    await work();

    await closed(whole._id);
    expect((await read(broken._id)).state).to.equal('paid');
    await batchCollection(store.db).deleteOne({ _id: broken._id });
  });

  it('does not pass over recipients that it cannot find', async () => {
    const account = await makeAccount(store.db, 20);
    const [broken, whole] = [makeBatch(account, 10), makeBatch(account, 10)];
    await payBatch(store.db, broken);
    await removeChunks(store.db, broken._id);
    await payBatch(store.db, whole);

    await work();

    await closed(whole._id);
    expect(await read(broken._id)).to.include({ state: 'paid', done: 0, open: true });
    await batchCollection(store.db).deleteOne({ _id: broken._id });
  });
});
