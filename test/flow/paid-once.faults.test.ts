import { mayHaveLeft, UNCONFIRMED } from '../../shared/messages/document/copies.ts';
import type { StoredMessage } from '../../shared/messages/document/message.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { eventually } from '../support/eventually.ts';
import { type ManyAnswer, ManyRequests } from '../support/many-requests.ts';
import { type Answer, useProduct } from '../support/product.ts';

const REQUESTS = 1_000;
const KEYS = 100;
const CONNECTIONS = 100;
/** Messages of each kind of refund. */
const REFUSED = 60;
const EXPIRING = 60;
const CANCELLED = 40;
const BATCH = 1_200;
/** Until the retry of a request that is still in flight. */
const AGAIN_MS = 50;
/** Requests that debit the account throughout, spread over the gateways. */
const DEBITS_IN_FLIGHT = 12;
const SETTLED_MS = 120_000;
/** Slightly longer than a killed gateway's key claim may still pay. */
const ANSWERED_MS = 120_000;

interface Stored extends Pick<StoredMessage, 'errorCode' | 'earlier'> {
  readonly _id: string;
  readonly account: string;
  readonly batch?: string;
  readonly state: string;
}

/** Resent after the kill and refused: the first copy may have arrived, so it stays paid (docs/decisions/0009). */
const isUnconfirmed = (message: Stored): boolean =>
  message.state === 'failed' && message.errorCode === UNCONFIRMED && mayHaveLeft(message);

describe('four gateways and two of each worker on one account', function () {
  this.timeout(SETTLED_MS + ANSWERED_MS);
  const product = useProduct({
    gateways: 4,
    smppWorkers: 2,
    otherWorkers: 2,
    credits: 100_000,
    // No carrier serves the promotional route, so its messages wait.
    carrier: {
      paths: ['transactional'],
      // The batch is stopped long before all of it has left.
      perSecond: 40,
      responseTimeoutMs: 30_000,
      unknownWaitMs: 3_000,
      unknownPolicy: 'resend',
    },
  });

  const words = { message: 'Your order has left.', sender: 'HARKRA', route: 'transactional' };
  const messages = () => product.db.collection<Stored>('messages');

  it('1,000 requests at once with 100 keys: 100 are charged, every answer is the first one to the byte', async () => {
    const many = new ManyRequests(CONNECTIONS);
    const ask = (i: number): Promise<ManyAnswer> =>
      many.send({
        url: `${product.url}/v2/send`,
        method: 'POST',
        headers: {
          Authorization: `Bearer ${product.key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': `key-${i % KEYS}`,
        },
        body: JSON.stringify({ ...words, route: 'promotional', to: `9170${String(i % KEYS).padStart(5, '0')}900` }),
      });
    const persistently = async (i: number): Promise<ManyAnswer> => {
      for (;;) {
        const answer = await ask(i);
        if (answer.status !== 409) return answer;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    };

    const answers = await Promise.all(Array.from({ length: REQUESTS }, (_, i) => persistently(i)));
    many.close();

    expect(answers.filter(({ status }) => status !== 200)).deep.equal([]);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).length(REQUESTS - KEYS);
    const bodies = Array.from(
      { length: KEYS },
      (_, k) => new Set(answers.filter((_, i) => i % KEYS === k).map((a) => a.body)),
    );
    expect(bodies.filter(({ size }) => size !== 1)).deep.equal([]);
    const told = bodies.flatMap((same) => [...same].map((body) => String(JSON.parse(body).message_id)));
    await eventually(
      async () => {
        const stored = await messages().find({ account: product.account }).toArray();
        expect(stored.map(({ _id }) => _id).sort()).deep.equal(told.sort());
        return true;
      },
      'what was answered is stored',
      SETTLED_MS,
    );
    const { problems, balance } = await verifyLedger(product.db, product.account);
    expect(problems).deep.equal([]);
    expect(balance).equal(product.credits - KEYS);
  });

  it('refused, expired, cancelled and stopped, while it is debited and processes are killed: refunded once each', async () => {
    const first = (await verifyLedger(product.db, product.account)).balance;
    const debits = debitAllTheWhile();
    const ends = await endWithoutLeaving().finally(() => debits.stop());
    const accepted = await debits.accepted;

    await eventually(
      async () => {
        const ofBatch = await messages().find({ batch: ends.batchId }).toArray();
        const paid = ofBatch.filter((one) => one.state === 'delivered' || isUnconfirmed(one));
        const left = paid.length;
        expect(ofBatch.filter((one) => one.state !== 'rejected' && !paid.includes(one))).deep.equal([]);
        const { body } = await product.get(`/v2/batches/${ends.batchId}`);
        expect(body).include({ state: 'stopped', stopped: BATCH - left });
        expect(await messages().countDocuments({ _id: { $in: [...accepted] } })).equal(accepted.length);

        const refunds = await refundsByName();
        for (const one of ends.refunded) expect(refunds.get(`ref_${one}`), one).equal(1);
        const sum = [...refunds.values()].reduce((total, amount) => total + amount, 0);
        expect(sum).equal(ends.refunded.length + BATCH - left);
        const { problems, balance } = await verifyLedger(product.db, product.account);
        expect(problems).deep.equal([]);
        expect(balance).equal(first - accepted.length - left - ends.unconfirmed);
        return left > 0 && left < BATCH;
      },
      'what left is paid, all else is refunded',
      SETTLED_MS,
    );
  });

  /** Refunded credits by name of the change. Fails if a name is there twice. */
  async function refundsByName(): Promise<ReadonlyMap<string, number>> {
    const entries = product.db.collection<{ account: string; reason: string; change: string; amount: number }>(
      'ledger',
    );
    const refunds = new Map<string, number>();
    for await (const { change, amount } of entries.find({ account: product.account, reason: 'refund' })) {
      expect(refunds.has(change), change).equal(false);
      refunds.set(change, amount);
    }
    return refunds;
  }
  /** Sends messages until `stop`. `accepted` resolves with all their ids. */
  function debitAllTheWhile(): { readonly accepted: Promise<readonly string[]>; stop(): void } {
    let on = true;
    const lanes = Array.from({ length: DEBITS_IN_FLIGHT }, async (_, lane) => {
      const ids: string[] = [];
      for (let i = 0; on; i++) {
        const to = `9171${lane + 10}${String(i).padStart(5, '0')}`;
        ids.push(String((await post('/v2/send', { ...words, route: 'promotional', to })).message_id));
      }
      return ids;
    });
    const accepted = Promise.all(lanes).then((ids) => ids.flat());
    accepted.catch(() => {}); // The test awaits it later and gets the error then.
    return {
      accepted,
      stop: () => {
        on = false;
      },
    };
  }

  /**
   * Messages end unsent in all four ways while a process of each kind is killed. Returns the batch, the ids of refunded
   * messages and schedules, and how many stay paid because they were in flight.
   */
  async function endWithoutLeaving(): Promise<{
    readonly batchId: string;
    readonly refunded: readonly string[];
    readonly unconfirmed: number;
  }> {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const booked = await Promise.all(
      numbers('9173', CANCELLED).map((to) => post('/v2/schedule', { ...words, to, schedule_time: at })),
    );
    // Each is cancelled by two requests at once; the killed gateway may have some of them.
    const cancels = [...booked, ...booked].map(({ schedule_id: one }) => remove(`/v2/schedule/${one}`));
    await product.kill('gateway');
    const until = new Date(Date.now() + 20_000).toISOString();
    const waiting = { ...words, route: 'promotional', valid_until: until };
    const expiring = Promise.all(numbers('9174', EXPIRING).map((to) => post('/v2/send', { ...waiting, to })));
    const refused = Promise.all(numbers('9175', REFUSED, '108').map((to) => post('/v2/send', { ...words, to })));
    const batch = await post('/v2/send-bulk', { ...words, to: numbers('9172', BATCH) });
    const batchId = String(batch.batch_id);
    await product.kill('smpp');
    await eventually(() => messages().findOne({ batch: batchId, state: { $ne: 'queued' } }), 'some leave');
    const stops = [1, 2].map(() => remove(`/v2/batches/${batchId}`));
    await eventually(
      () => product.db.collection<Stored>('batches').findOne({ _id: batchId, state: { $ne: 'paid' } }),
      'the stop is decided',
    );
    await product.kill('background');
    await Promise.all([...cancels, ...stops]);
    const refusedIds = (await refused).map(({ message_id: one }) => String(one));
    const expiringIds = (await expiring).map(({ message_id: one }) => String(one));
    const unconfirmed = await ended([...refusedIds, ...expiringIds]);
    expect(unconfirmed.filter((one) => !refusedIds.includes(one))).deep.equal([]);
    expect(unconfirmed.length).lessThan(REFUSED);
    const single = [...refusedIds, ...expiringIds, ...booked.map(({ schedule_id: one }) => String(one))];
    return {
      batchId,
      refunded: single.filter((one) => !unconfirmed.includes(one)),
      unconfirmed: unconfirmed.length,
    };
  }

  function numbers(prefix: string, count: number, ending = '900'): string[] {
    return Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(5, '0')}${ending}`);
  }

  /** Repeats a request with one Idempotency-Key until it is answered, as the API's documentation asks. */
  function post(path: string, body: object): Promise<Answer['body']> {
    const key = newId('req');
    return persistently(() => product.post(path, body, { 'idempotency-key': key }));
  }

  function remove(path: string): Promise<Answer['body']> {
    return persistently(() => product.delete(path));
  }

  function persistently(asked: () => Promise<Answer>): Promise<Answer['body']> {
    return eventually(
      async () => {
        const { status, body } = await asked();
        if (status === 503 || (status === 409 && body.code === 'idempotency_in_flight')) {
          throw new Error(`answered ${status}`);
        }
        expect(status, JSON.stringify(body)).equal(200);
        return body;
      },
      'an answer',
      ANSWERED_MS,
    );
  }

  /** Waits until all of these have ended. Resolves with those that stay paid because of an earlier copy. */
  function ended(ids: readonly string[]): Promise<readonly string[]> {
    return eventually(
      async () => {
        const found = await messages()
          .find({ _id: { $in: [...ids] } })
          .toArray();
        const kept = found.filter(isUnconfirmed);
        const over = found.filter(({ state }) => ['delivered', 'expired', 'rejected'].includes(state));
        if (over.length + kept.length < ids.length) throw new Error(`${over.length + kept.length} of ${ids.length}`);
        return kept.map(({ _id }) => _id);
      },
      'all have ended',
      SETTLED_MS,
    );
  }
});
