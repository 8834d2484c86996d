import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import type { AppName } from '../../shared/platform/processes/apps.ts';
import { eventId } from '../../shared/platform/runtime/ids.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, useProduct } from '../support/product.ts';

const MESSAGES = 500;
/** 100 messages a second: sending them all takes several times as long as a restart. */
const PACE_MS = 10;
const IN_FLIGHT_MAX = 32;
const VICTIMS: readonly AppName[] = ['smpp', 'webhooks', 'gateway', 'background', 'embedded-db'];

/** Longer than a receipt needs on the new bind, so only what never left the worker is resubmitted. */
const UNKNOWN_WAIT_MS = 10_000;
const SETTLED_MS = 120_000;

interface Told {
  /** Recipients of requests answered with 200, by message id. */
  readonly accepted: Map<string, string>;
  /** Other answers, as `503 application/problem+json`. */
  readonly refused: string[];
  /** Requests that broke off, with an unknown result. */
  broken: number;
}

describe('kill -9 of each process in turn while messages flow', function () {
  this.timeout(SETTLED_MS * 4);
  const product = useProduct({
    // Slow enough that a killed worker always leaves unanswered submits.
    smsc: { responseDelayMs: 50, receiptDelayMs: 200 },
    carrier: { responseTimeoutMs: 5_000, unknownWaitMs: UNKNOWN_WAIT_MS, unknownPolicy: 'resend' },
  });
  let told: Told;
  let stored: MessageDocument[];

  before(async () => {
    const victims = process.env.HARKARA_MONGODB_URI ? VICTIMS.filter((app) => app !== 'embedded-db') : VICTIMS;
    told = await sendWhile(product, async (progress) => {
      for (const [i, victim] of victims.entries()) {
        await eventually(
          () => progress() >= ((i + 0.5) * MESSAGES) / victims.length,
          `work before ${victim}`,
          SETTLED_MS,
        );
        await product.kill(victim);
      }
    });

    const messages = product.db.collection<MessageDocument>('messages');
    await eventually(
      async () => {
        const open = await messages.countDocuments({ state: { $in: ['queued', 'submitting', 'waiting', 'sent'] } });
        const pending = await product.db.collection('accounts').countDocuments({ pendingAt: { $exists: true } });
        if (open + pending > 0)
          throw new Error(`${open} messages are not final, ${pending} accounts have something pending`);
        return true;
      },
      'all messages final',
      SETTLED_MS,
    );
    stored = await messages.find({}).toArray();
  });

  it('callers get 200, 503 as problem+json, or a broken connection, and nothing else', () => {
    expect(told.accepted.size).equal(MESSAGES);
    expect(told.refused.filter((answer) => answer !== '503 application/problem+json')).deep.equal([]);
  });

  it('every message that was answered with 200 exists and was delivered', () => {
    const states = new Map<string, string>(stored.map(({ _id, state }) => [_id, state]));

    const lost = [...told.accepted.keys()].filter((id) => states.get(id) !== 'delivered');
    expect(lost).deep.equal([]);
  });

  it('what exists beyond that is of requests whose end nobody was told', () => {
    const surplus = stored.filter(({ _id }) => !told.accepted.has(_id)).length;

    expect(surplus).at.most(told.broken + told.refused.length);
  });

  it('every message is submitted exactly once: what was under way when its worker died is settled by its receipt', () => {
    const submits = new Map<string, number>();
    for (const { to } of product.smsc.messages()) submits.set(to, (submits.get(to) ?? 0) + 1);

    const never = stored.filter(({ to }) => !submits.has(to)).map(({ to }) => to);
    const twice = [...submits].filter(([, times]) => times > 1);
    expect(never).deep.equal([]);
    expect(twice).deep.equal([]);
  });

  it('each state change reaches the receiver as one event id, signed', async () => {
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

  it('the ledger is whole and the balance is what was there less what was accepted', async () => {
    const { problems, balance } = await verifyLedger(product.db, product.account);

    expect(problems).deep.equal([]);
    expect(balance).equal(product.credits - stored.length);
  });
});

/**
 * Sends to distinct numbers, one every few milliseconds, until `MESSAGES` are accepted. `disturb` runs meanwhile;
 * `progress` tells it how many are accepted so far.
 */
async function sendWhile(product: Product, disturb: (progress: () => number) => Promise<void>): Promise<Told> {
  const told: Told = { accepted: new Map(), refused: [], broken: 0 };
  let attempts = 0;
  let inFlight = 0;
  const send = async (): Promise<void> => {
    const to = `9170${String(++attempts).padStart(5, '0')}000`;
    inFlight += 1;
    try {
      const { status, type, body } = await product.send(to, `Message ${attempts}`);
      if (status === 200) told.accepted.set(String(body.message_id), to);
      else told.refused.push(`${status} ${type.replace(/;.*/, '')}`);
    } catch {
      // Reset or refused connection: its process was killed.
      told.broken += 1;
    }
    inFlight -= 1;
  };
  const pace = setInterval(() => {
    if (inFlight < IN_FLIGHT_MAX && told.accepted.size + inFlight < MESSAGES) void send();
  }, PACE_MS);
  try {
    await disturb(() => told.accepted.size);
    await eventually(() => told.accepted.size === MESSAGES, 'all messages accepted', SETTLED_MS);
  } finally {
    clearInterval(pace);
  }
  return told;
}
