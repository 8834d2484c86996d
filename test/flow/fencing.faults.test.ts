import type { Outcome } from '../../scripts/simulator/smsc/receipts.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { queueOf } from '../../shared/messages/queue/queue-store.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import type { AppName } from '../../shared/platform/processes/apps.ts';
import { type BatchId, eventId } from '../../shared/platform/runtime/ids.ts';
import { parseIdentity } from '../../shared/platform/runtime/process-identity.ts';
import { eventually } from '../support/eventually.ts';
import { latch } from '../support/latch.ts';
import { type Product, startProduct } from '../support/product.ts';

const WINDOW = 20;
const TAKEN_OVER_MS = 60_000;
/** Shorter than a lease (15 s), so it must have been handed over. */
const HANDED_OVER_MS = 10_000;
const SETTLED_MS = 120_000;
const BATCH = 600;
const SCHEDULES = 60;
const EXPIRING = 10;
const LEASED: readonly AppName[] = ['smpp', 'webhooks', 'background'];

/** command_id, SMPP 3.4 §5.1.2.1. */
const SUBMIT_SM = 0x4;
const SUBMIT_SM_RESP = 0x80000004;
const UNBIND = 0x6;

interface Frame {
  readonly direction: 'in' | 'out';
  readonly session: number;
  readonly command: number;
  readonly atMs: number;
}

interface LeaseDocument {
  readonly _id: string;
  readonly owner: string;
  readonly epoch: number;
  readonly until: Date;
}

describe('two processes of each worker', function () {
  this.timeout(2 * TAKEN_OVER_MS + SETTLED_MS);
  let product: Product;
  const frames: Frame[] = [];
  const bound: { readonly session: number; readonly atMs: number }[] = [];
  let outcome: Outcome | undefined;
  const sentTo: string[] = [];

  before(async () => {
    product = await startProduct({
      gateways: 1,
      smppWorkers: 2,
      webhookWorkers: 2,
      otherWorkers: 2,
      smsc: {
        // The carrier keeps sending enquire_link, to the frozen worker too.
        enquireLinkMs: 500,
        behaviour: () => outcome,
        onFrame: (direction, bytes, session) => {
          if (bytes.length >= 8)
            frames.push({ direction, session, command: bytes.readUInt32BE(4), atMs: performance.now() });
        },
        onEvent: (event) => {
          if (event.kind === 'bound') bound.push({ session: event.sessionId, atMs: performance.now() });
        },
      },
      carrier: { windowSize: WINDOW },
    });
    await eventually(() => bound.length === 1, 'the carrier is bound');
  });
  after(async () => {
    // A failed test may have left processes frozen, which could not be stopped.
    for (const pid of LEASED.flatMap((app) => product?.pids(app) ?? [])) process.kill(pid, 'SIGCONT');
    await product?.stop();
  });

  const messages = () => product.db.collection<MessageDocument>('messages');
  const leases = () => product.db.collection<LeaseDocument>('leases');
  const lease = (name: string) => leases().findOne({ _id: name });
  const holderOf = async (name: string): Promise<number> => parseIdentity((await lease(name))?.owner ?? '').pid;
  const words = { message: 'Your order has left.', sender: 'HARKRA', route: 'transactional' };
  let numbers = 0;
  const nextNumbers = (count: number): string[] =>
    Array.from({ length: count }, () => `9181${String(++numbers).padStart(5, '0')}900`);

  async function send(count: number, more: object = {}): Promise<readonly string[]> {
    const to = nextNumbers(count);
    sentTo.push(...to);
    const answers = await Promise.all(to.map((each) => product.post('/v2/send', { to: each, ...words, ...more })));
    expect(answers.map(({ status }) => status)).deep.equal(to.map(() => 200));
    return to;
  }
  const unansweredOf = (session: number): number =>
    product.smsc.sessions().find(({ id }) => id === session)?.unanswered ?? 0;
  const find = (to: readonly string[]) =>
    messages()
      .find({ to: { $in: [...to] } })
      .toArray();
  async function allAre(to: readonly string[], ...states: MessageDocument['state'][]): Promise<void> {
    await eventually(
      async () => {
        const count = await messages().countDocuments({ to: { $in: [...to] }, state: { $in: states } });
        if (count < to.length) throw new Error(`${count} of ${to.length}`);
        return true;
      },
      `all are ${states}`,
      SETTLED_MS,
    );
  }

  describe('one of which is frozen past its leases, and wakes', () => {
    const frozen: number[] = [];
    const late = latch();
    let session: number;
    let window: readonly string[];
    let expiring: readonly string[];
    let batch: readonly string[];
    let batchId: string;
    let behindIt: readonly string[];
    /** Frames seen when the successor was bound. */
    let before = 0;
    const epochs = new Map<string, number>();

    async function freeze(pid: number): Promise<void> {
      process.kill(pid, 'SIGSTOP');
      frozen.push(pid);
      const held = (await leases().find().toArray()).filter(({ owner }) => parseIdentity(owner).pid === pid);
      for (const { _id, epoch } of held) epochs.set(_id, epoch);
    }

    it('the carrier and every other lease has another holder within a minute', async () => {
      session = bound.at(-1)?.session ?? 0;
      product.smsc.hold();
      outcome = { answerWhen: late.opened };
      window = await send(WINDOW);
      await eventually(() => unansweredOf(session) === WINDOW, 'the window is full');
      await freeze(await holderOf('carrier:sim'));
      const frozenAtMs = performance.now();
      const unanswered = unansweredOf(session);
      outcome = undefined;
      batch = nextNumbers(BATCH);
      batchId = String((await product.post('/v2/send-bulk', { to: batch, ...words })).body.batch_id);
      await eventually(() => queueOf(product.db).findOne({ batch: batchId as BatchId }), 'the batch is being split');
      // It also holds some batches, and may have the schedules' alarm, which has no lease.
      await eventually(async () => {
        const [holder, batches] = [
          await holderOf('maintenance'),
          await leases()
            .find({ _id: { $regex: '^batches:' } })
            .toArray(),
        ];
        return batches.some(({ owner }) => parseIdentity(owner).pid === holder);
      }, 'the holder of the maintenance has batches');
      await freeze(await holderOf('maintenance'));
      // No worker serves their carrier now. Both processes that could expire them are frozen, until others take over.
      expiring = await send(EXPIRING, { valid_until: new Date(Date.now() + 6_000).toISOString() });

      const due = new Date(Math.ceil(Date.now() / 1_000 + 12) * 1_000).toISOString();
      const scheduled = nextNumbers(SCHEDULES);
      const asked = scheduled.map((to) => product.post('/v2/schedule', { to, ...words, schedule_time: due }));
      expect((await Promise.all(asked)).map(({ status }) => status)).deep.equal(scheduled.map(() => 200));
      sentTo.push(...batch, ...scheduled);
      await freeze(await holderOf('webhooks:0'));
      behindIt = await send(30);

      const successor = await eventually(() => bound.at(1), 'the carrier is taken over', TAKEN_OVER_MS);
      before = frames.length;
      await eventually(
        async () => {
          const now = await leases()
            .find({ _id: { $in: [...epochs.keys()] } })
            .toArray();
          const still = now.filter(({ _id, epoch }) => epoch === epochs.get(_id));
          if (still.length > 0) throw new Error(`not taken over: ${still.map(({ _id }) => _id)}`);
          return true;
        },
        'every lease is taken over',
        TAKEN_OVER_MS,
      );

      expect([...epochs.keys()]).to.include.members(['carrier:sim', 'maintenance']);
      expect([...epochs.keys()].filter((name) => name.startsWith('batches:'))).not.to.deep.equal([]);
      expect(unanswered, 'answers had come before it was frozen').to.equal(WINDOW);
      expect((successor?.atMs ?? Number.POSITIVE_INFINITY) - frozenAtMs).below(TAKEN_OVER_MS);
    });

    it('what waited is sent by the successor, and what the other had written is unknown', async () => {
      await allAre(behindIt, 'sent');
      await allAre(expiring, 'expired');

      for (const { state, outcome: known, claim } of await find(window)) {
        expect({ state, known }).deep.equal({ state: 'submitting', known: 'unknown' });
        expect(claim?.epoch).equal((epochs.get('carrier:sim') ?? 0) + 1);
      }
      const [one] = await find(window);
      expect((await product.get(`/v2/status/${one?._id}`)).body).include({ status: 'queued', outcome: 'unknown' });
    });

    it('awake, the first one lets go of its socket without a word, and settles none of the answers that lay there', async () => {
      late.open();
      await eventually(() => unansweredOf(session) === 0, 'the answers lie there');
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
      await eventually(() => !product.smsc.sessions().some(({ id }) => id === session), 'it closes its connection');
      const after = await send(30);
      await allAre(after, 'sent');

      const written = frames.slice(before).filter((frame) => frame.session === session && frame.direction === 'in');
      expect(written).deep.equal([]);
      const unsettled = await find(window);
      expect(unsettled.map(({ state, outcome: known }) => ({ state, known }))).deep.equal(
        window.map(() => ({ state: 'submitting', known: 'unknown' })),
      );
      const intents = await product.db.collection<{ _id: string; epoch: number }>('intents').find().toArray();
      const carriers = intents.filter(({ _id }) => _id.startsWith('carrier:sim/'));
      expect(carriers.map(({ epoch }) => epoch)).deep.equal(carriers.map(() => (epochs.get('carrier:sim') ?? 0) + 1));
    });

    it('every message has one submit, every receipt finds its own, every change one event', async () => {
      product.smsc.release();
      const delivered = sentTo.filter((to) => !expiring.includes(to));
      await allAre(delivered, 'delivered');

      const stored = await find(sentTo);
      expect(stored).length(sentTo.length);
      const submits = product.smsc.messages().map(({ to }) => to);
      expect(submits.sort()).deep.equal([...delivered].sort());
      for (const { history } of stored) {
        expect(new Set(history.map(({ state }) => state)).size, JSON.stringify(history)).equal(history.length);
      }
      const changes = stored.flatMap(({ _id, history }) => history.map(({ state }) => eventId(_id, state))).sort();
      await eventually(
        () => {
          const posts = product.receiver.received();
          expect([...new Set(posts.map(({ id }) => id))].sort()).deep.equal(changes);
          expect(posts.filter(({ signature }) => signature !== 'valid')).deep.equal([]);
          return true;
        },
        'all events',
        SETTLED_MS,
      );
    });

    it('the batch and the schedules are made once, what expired is refunded once, the ledger is whole', async () => {
      const { body } = await product.get(`/v2/batches/${batchId}`);
      expect(body).include({ total: BATCH });

      const { problems, balance } = await verifyLedger(product.db, product.account);
      expect(problems).deep.equal([]);
      expect(balance).equal(product.credits - sentTo.length + EXPIRING);
    });
  });

  describe('one of which is stopped', () => {
    it('unbinds when its window is empty, and the other is bound before the lease would have run out', async () => {
      const session = bound.at(-1)?.session ?? 0;
      const holder = await holderOf('carrier:sim');
      const { epoch = 0 } = (await lease('carrier:sim')) ?? {};
      const binds = bound.length;
      const first = frames.length;
      const late = latch();
      outcome = { answerWhen: late.opened };
      const to = await send(3 * WINDOW);
      await eventually(() => unansweredOf(session) === WINDOW, 'the window is full');

      const stopped = product.kill('smpp', 'SIGINT', holder);
      late.open();
      await eventually(() => bound.length > binds, 'the other one is bound', TAKEN_OVER_MS);
      outcome = undefined;
      await stopped;

      const its = frames.slice(first).filter((frame) => frame.session === session);
      const end = its.findIndex(({ direction, command }) => direction === 'in' && command === UNBIND);
      expect(end, 'an unbind').above(-1);
      const count = (wanted: number) => its.slice(0, end).filter(({ command }) => command === wanted).length;
      expect(count(SUBMIT_SM)).at.least(WINDOW);
      expect(count(SUBMIT_SM_RESP)).equal(count(SUBMIT_SM));
      expect(its.slice(end + 1).filter(({ command }) => command === SUBMIT_SM)).deep.equal([]);
      expect((bound.at(binds)?.atMs ?? 0) - (its[end]?.atMs ?? 0)).below(HANDED_OVER_MS);
      const now = await lease('carrier:sim');
      expect(now?.epoch).equal(epoch + 1);

      await allAre(to, 'delivered');
      const submits = product.smsc.messages().filter((submit) => to.includes(submit.to));
      expect(submits).length(to.length);
    });
  });
});
