import type { Submit } from '../../scripts/simulator/smpp/submit.ts';
import type { MessageDocument, Route } from '../../shared/messages/document/message.ts';
import { queueOf } from '../../shared/messages/queue/queue-store.ts';
import { createKey } from '../../shared/people/keys/store.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { eventually } from '../support/eventually.ts';
import { makeAccount } from '../support/make.ts';
import { type Answer, ask, useProduct } from '../support/product.ts';

/**
 * Who goes first when messages come faster than the carrier takes them. The tests check only the order of submits at
 * the carrier, because durations depend on the machine. Times are converted to submits at the worker's rate.
 */
const PER_SECOND = 200;
const WINDOW = 20;
/** Claimed ahead of the rate (workers/smpp/submit/dispatch.ts): the messages of 0.1 s. */
const AHEAD = PER_SECOND / 10;
/** An empty lane is read every 0.1 s, and a read-ahead is used for 0.05 s (workers/smpp/claim/claim.ts). */
const BELIEVED = 0.15 * PER_SECOND;
/** A round of claims before and after that, and submits that the carrier has not read from its socket. */
const SLACK = 2 * WINDOW;
/** The most messages of one account in a row (workers/smpp/claim/waiting.ts). */
const QUOTA = 15;
/** The lower lanes' share of a claim that a higher one could fill (workers/smpp/claim/waiting.ts). */
const LOWER_LANES_PART = 0.1;
/** Submits until all workers know of a pause: 2 s (shared/messages/queue/claim-gates.ts). */
const PAUSE_KNOWN = 2 * PER_SECOND;
const WAIT_MS = 120_000;

interface Customer {
  readonly account: AccountId;
  readonly key: string;
}

describe('fairness at a carrier of 200 messages a second', function () {
  this.timeout(2 * WAIT_MS);
  const product = useProduct({ gateways: 1, carrier: { perSecond: PER_SECOND, windowSize: WINDOW } });

  // Also if the test that paused it failed.
  afterEach(() => product.ops('carrier resume sim'));

  const messages = () => product.db.collection<MessageDocument>('messages');
  const submits = () => product.smsc.messages();

  async function customer(): Promise<Customer> {
    const account = await makeAccount(product.db, 10_000);
    const { key } = await createKey(product.db, systemClock, { account, name: 'Flow', scopes: ['send', 'read'] });
    return { account, key };
  }

  async function call({ key }: Customer, path: string, body: object): Promise<Answer['body']> {
    const answer = await ask(product.url + path, key, body);
    expect(answer.status, JSON.stringify(answer.body)).equal(200);
    return answer.body;
  }

  /** When this resolves, each message of the bulk request waits in the queue or has already left. */
  async function bulk(
    who: Customer,
    to: readonly string[],
    route: Route = 'transactional',
    message = 'Hello',
  ): Promise<string> {
    const body = await call(who, '/v2/send-bulk', { to, message, sender: 'HARKRA', route });
    const batch = String(body.batch_id);
    await eventually(
      () => product.db.collection<{ _id: string }>('batches').findOne({ _id: batch, state: 'split' }),
      'all entries are messages',
      WAIT_MS,
    );
    return batch;
  }

  /** All waiting messages, once they are written out. */
  async function queuedOf({ account }: Customer): Promise<readonly MessageDocument[]> {
    const onlyLines = { account, open: true, writeAt: { $exists: true } } as const;
    await eventually(async () => (await queueOf(product.db).countDocuments(onlyLines)) === 0, 'all is written out');
    return messages().find({ account, state: 'queued' }).sort({ _id: 1 }).toArray();
  }

  /** Sorted recipients, each as often as the carrier got it. */
  const recipientsOf = (of: (submit: Submit) => boolean) =>
    submits()
      .filter(of)
      .map(({ to }) => to)
      .sort();

  async function arrived(of: (submit: Submit) => boolean, count: number): Promise<void> {
    await eventually(() => submits().filter(of).length >= count, `${count} submits`, WAIT_MS);
  }

  /** Stops a batch; resolves when none of its messages waits any more. */
  async function stop(who: Customer, batch: string): Promise<void> {
    const { status } = await ask(`${product.url}/v2/batches/${batch}`, who.key, undefined, 'DELETE');
    // 409: all of them have left.
    expect(status).to.be.oneOf([200, 409]);
    await eventually(
      async () =>
        (await queueOf(product.db).countDocuments({ open: true })) === 0 &&
        (await messages().countDocuments({ state: { $in: ['queued', 'submitting'] } })) === 0,
      'nothing waits',
      WAIT_MS,
    );
  }

  /**
   * Queues messages while the carrier reads nothing, so that they form one backlog. The returned function gives the
   * submits since then.
   */
  async function queuedTogether(work: () => Promise<unknown>): Promise<() => Submit[]> {
    product.smsc.pause();
    const before = submits().length;
    await work();
    product.smsc.resume();
    return () => submits().slice(before);
  }

  it("single messages pass another account's bulk", async () => {
    const [bulky, single] = [await customer(), await customer()];
    let batch = '';
    await queuedTogether(async () => {
      batch = await bulk(bulky, numbers('10', 2_000));
    });

    const overtaken: number[] = [];
    for (const to of numbers('11', 6)) {
      await call(single, '/v2/send', { to, message: 'Your code', sender: 'HARKRA', route: 'transactional' });
      const before = submits().length;
      await arrived((submit) => submit.to === to, 1);
      overtaken.push(submits().findIndex((submit) => submit.to === to) - before);
    }
    const waiting = await messages().countDocuments({ account: bulky.account, state: 'queued' });
    await stop(bulky, batch);

    expect(Math.max(...overtaken), `${overtaken}`).to.be.at.most(WINDOW + AHEAD + BELIEVED + SLACK);
    expect(waiting, 'the bulk waited all the time').to.be.above(0);
  });

  it('the batches of two accounts progress side by side', async () => {
    const [first, second, earlier] = [await customer(), await customer(), await customer()];
    const count = 500;
    const log = await queuedTogether(async () => {
      // Fills the window and one more claimed ahead; otherwise the first batch would be claimed while it is alone.
      await bulk(earlier, numbers('22', 3 * WINDOW));
      await bulk(first, numbers('20', count));
      await bulk(second, numbers('21', count));
    });

    await arrived(isTo('20'), count);
    await arrived(isTo('21'), count);

    const leads = leadsWhileBothWait(log(), isTo('20'), isTo('21'), count);
    expect(leads.length).to.be.at.least(count);
    // One batch may have been claimed alone first, into what was left of the window.
    expect(Math.max(...leads.map(Math.abs))).to.be.at.most(WINDOW + QUOTA);
  });

  it('what a paused or suspended account has waiting stays as it is, and leaves once when it is resumed', async () => {
    const [paused, suspended, other] = [await customer(), await customer(), await customer()];
    const [count, others] = [300, 1.5 * PAUSE_KNOWN];
    const isHeld = (submit: Submit) => isTo('30')(submit) || isTo('31')(submit);
    const waiting = async () => [...(await queuedOf(paused)), ...(await queuedOf(suspended))];
    await queuedTogether(async () => {
      await bulk(paused, numbers('30', count));
      await bulk(suspended, numbers('31', count));
      await bulk(other, numbers('32', others));
    });

    await product.ops(`account pause ${paused.account}`);
    await product.ops(`account suspend ${suspended.account}`);
    const before = submits().filter(isHeld).length;
    const queued = new Map((await waiting()).map((message) => [message._id, message]));
    // More than can leave before the pause is known.
    await arrived(isTo('32'), others);
    const left = submits().filter(isHeld).length - before;
    const kept = await waiting();
    await product.ops(`account resume ${paused.account}`);
    await product.ops(`account resume ${suspended.account}`);
    await arrived(isHeld, 2 * count);

    expect(left).to.be.at.most(PAUSE_KNOWN + WINDOW + AHEAD + SLACK);
    expect(kept).to.have.length.at.least(2 * count - before - left - WINDOW);
    expect(kept).to.deep.equal(kept.map(({ _id }) => queued.get(_id)));
    expect(recipientsOf(isHeld)).to.deep.equal([...numbers('30', count), ...numbers('31', count)]);
  });

  it('what waits of a paused template stays as it is, while the account’s other messages leave', async () => {
    const [indian, other] = [await customer(), await customer()];
    const [paused, open] = ['1107160000000000051', '1107160000000000053'];
    await product.ops(`account update ${indian.account} --dlt on --entity-id 1101160000000000009`);
    await product.ops(`sender create ${indian.account} HARKRA`);
    await product.ops(`template create ${indian.account} ${paused} --content Hello --senders HARKRA`);
    await product.ops(`template create ${indian.account} ${open} --content Bye --senders HARKRA`);
    const [count, others] = [300, 1.5 * PAUSE_KNOWN];
    await queuedTogether(async () => {
      await bulk(indian, numbers('50', count));
      await bulk(other, numbers('52', others));
    });

    await product.ops(`template pause ${indian.account} ${paused}`);
    const before = submits().filter(isTo('50')).length;
    const queued = new Map((await queuedOf(indian)).map((message) => [message._id, message]));
    // More than can leave before the pause is known, followed by messages that the pause must not delay.
    await arrived(isTo('52'), others);
    const left = submits().filter(isTo('50')).length - before;
    await bulk(indian, numbers('53', 50), 'transactional', 'Bye');
    await arrived(isTo('53'), 50);
    const kept = (await queuedOf(indian)).filter(({ template }) => template === paused);
    await product.ops(`template resume ${indian.account} ${paused}`);
    await arrived(isTo('50'), count);

    expect(left).to.be.at.most(PAUSE_KNOWN + WINDOW + AHEAD + SLACK);
    expect(kept).to.have.length.at.least(count - before - left - WINDOW);
    expect(kept).to.deep.equal(kept.map(({ _id }) => queued.get(_id)));
    expect(recipientsOf(isTo('50'))).to.deep.equal(numbers('50', count));
  });

  it('what waits for a paused carrier stays as it is, and leaves once when it is resumed', async () => {
    const who = await customer();
    const count = 1_200;
    await queuedTogether(() => bulk(who, numbers('60', count)));
    await arrived(isTo('60'), 1);

    await product.ops('carrier pause sim');
    await eventually(
      async () =>
        product.smsc.sessions().length === 0 &&
        (await queueOf(product.db).countDocuments({ account: who.account, 'claims.0': { $exists: true } })) === 0 &&
        (await messages().countDocuments({ account: who.account, state: 'submitting' })) === 0,
      'the binds have ended, and what became of the last submits is stored',
      WAIT_MS,
    );
    const left = submits().filter(isTo('60')).length;
    const kept = new Map((await queuedOf(who)).map((message) => [message._id, message]));
    await call(who, '/v2/send', { to: numbers('61', 1)[0], message: 'Hi', sender: 'HARKRA', route: 'transactional' });
    const later = (await queuedOf(who)).filter(({ _id }) => kept.has(_id));
    await product.ops('carrier resume sim');
    await arrived(isTo('60'), count);
    await arrived(isTo('61'), 1);

    expect(left).to.be.below(count);
    expect(kept.size).to.equal(count - left);
    expect(later).to.deep.equal([...kept.values()]);
    // Only messages that the worker had claimed when it stopped were changed and put back.
    expect([...kept.values()].filter(({ v }) => v > 0)).to.have.length.at.most(WINDOW + AHEAD);
    expect(recipientsOf(isTo('60'))).to.deep.equal(numbers('60', count));
  });

  it('promotional messages wait behind transactional ones, but for a small share', async () => {
    const [promoter, other] = [await customer(), await customer()];
    const count = 600;
    let batch = '';
    const log = await queuedTogether(async () => {
      batch = await bulk(promoter, numbers('40', count / 2), 'promotional');
      await bulk(other, numbers('41', count));
    });

    await arrived(isTo('41'), count);
    const lanes = log();
    await stop(promoter, batch);

    const whileBothWait = lanes.slice(lanes.findIndex(isTo('41')), lanes.findLastIndex(isTo('41')) - 2 * WINDOW);
    const promotional = whileBothWait.filter(isTo('40')).length;
    expect(promotional, `of ${whileBothWait.length}`).to.be.within(
      Math.floor((whileBothWait.length * LOWER_LANES_PART) / 2),
      Math.ceil(whileBothWait.length * LOWER_LANES_PART) + SLACK,
    );
  });
});

/** Two digits identify the batch. */
function numbers(batch: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `9170${batch}${String(i).padStart(4, '0')}00`);
}

function isTo(batch: string): (submit: Submit) => boolean {
  return ({ to }) => to.startsWith(`9170${batch}`);
}

function leadsWhileBothWait(
  log: readonly Submit[],
  isOne: (submit: Submit) => boolean,
  isOther: (submit: Submit) => boolean,
  count: number,
): number[] {
  const leads: number[] = [];
  const sent = { one: 0, other: 0 };
  for (const submit of log) {
    if (isOne(submit)) sent.one += 1;
    if (isOther(submit)) sent.other += 1;
    if (Math.max(sent.one, sent.other) >= count - 2 * WINDOW) break;
    leads.push(sent.one - sent.other);
  }
  return leads;
}
