import assert from 'node:assert/strict';
import type { Provider } from '../../scripts/simulator/provider.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { verificationsOf } from '../../shared/messages/document/verification.ts';
import type { AuditDocument } from '../../shared/people/audit.ts';
import { createKey } from '../../shared/people/keys/store.ts';
import type { AppName } from '../../shared/platform/processes/apps.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { CrashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { newId, type VerificationId } from '../../shared/platform/runtime/ids.ts';
import { eventually } from './eventually.ts';
import { makeAccount } from './make.ts';
import { type Answer, ask, type Product } from './product.ts';

/** A crash: which process dies where, and how the case's messages must end all the same. */
export interface Case {
  readonly point: CrashPoint;
  /** The only process that dies at the point. */
  readonly app: AppName;
  /** Where that process's predecessor dies. */
  readonly after?: CrashPoint;
  /** The pass through the point at which the process dies. Default 1. */
  readonly pass?: number;
  /** Runs before the process is given its crash point. */
  prepare?(numbers: Numbers): Promise<void>;
  /** Makes the process reach the point. Repeats unanswered requests, as a client would. */
  act(numbers: Numbers): Promise<unknown>;
  /** All messages that must exist at the end, by recipient, with their state. */
  readonly ends: readonly {
    readonly count: number;
    readonly state: AnyMessage['state'];
    readonly refunded?: true;
    /** Of each. Default 1. */
    readonly price?: number;
  }[];
  /** How many submits may be repeated: the crash leaves their fate unknown, and the carrier's policy is to resend. */
  readonly resent?: number;
}

/** Recipients of this case only. */
export type Numbers = (count: number, ending?: string) => readonly string[];

/** Longer than the maintenance leaves a young pending change alone (workers/maintenance/finish-pending.ts). */
export const SETTLED_MS = 120_000;
const BULK = 300;
const STOPPED = 50;
/** Some of their receipts are settled together. */
const GROUPED = 40;
/** The receiver does not acknowledge the first post about numbers with this ending. */
export const FIRST_POST_FAILS = '777';
const DELIVERED = 'delivered';

/** How a process reaches each crash point, and what must be true at the end. */
export function crashCases(product: () => Product): readonly Case[] {
  let due = new Date(0);

  /** Repeats a request with one Idempotency-Key until its answer is final, as the API's documentation asks. */
  async function persistently(ask: () => Promise<Answer>): Promise<Answer['body']> {
    return eventually(
      async () => {
        const { status, body } = await ask();
        if (status === 503 || status === 409) throw new Error(`answered ${status}`);
        expect(status, JSON.stringify(body)).equal(200);
        return body;
      },
      'an answer',
      SETTLED_MS,
    );
  }
  function post(path: string, body: object): Promise<Answer['body']> {
    const key = newId('req');
    return persistently(() => product().post(path, body, { 'idempotency-key': key }));
  }
  const words = { message: 'Your order has left.', sender: 'HARKRA', route: 'transactional' };
  const send = (to: string | undefined) => post('/v2/send', { to, ...words });
  const bulk = (to: readonly string[], route = words.route) => post('/v2/send-bulk', { to, ...words, route });
  const schedule = (to: string | undefined, at: Date) =>
    post('/v2/schedule', { to, ...words, schedule_time: at.toISOString() });
  const inSeconds = (seconds: number) => new Date(Math.ceil(Date.now() / 1_000 + seconds) * 1_000);

  let scheduleId = '';
  const cancels: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    async prepare(numbers) {
      scheduleId = String((await schedule(numbers(1)[0], inSeconds(3_600))).schedule_id);
    },
    act: () => persistently(() => product().delete(`/v2/schedule/${scheduleId}`)),
    ends: [],
  };
  const releases: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    async prepare(numbers) {
      due = inSeconds(12);
      for (const to of numbers(5)) await schedule(to, due);
    },
    act: async () => {},
    ends: [{ count: 5, state: DELIVERED }],
  };
  const sendsOne = (ending?: string): Pick<Case, 'act' | 'ends'> => ({
    act: async (numbers) => send(numbers(1, ending)[0]),
    ends: [{ count: 1, state: DELIVERED }],
  });
  const sendsFive: Pick<Case, 'act' | 'ends'> = {
    act: (numbers) => Promise.all(numbers(5).map(send)),
    ends: [{ count: 5, state: DELIVERED }],
  };
  const sendsBulk: Pick<Case, 'act' | 'ends'> = {
    act: (numbers) => bulk(numbers(BULK)),
    ends: [{ count: BULK, state: DELIVERED }],
  };
  const provider = (): Provider => {
    const { provider: started } = product();
    assert(started !== undefined, 'the product was started with one');
    return started;
  };
  const sendsTemplate = (
    ending?: string,
    end: Case['ends'][number] = { count: 1, state: 'read', price: 2 },
  ): Pick<Case, 'act' | 'ends'> => ({
    act: async (numbers) => {
      const [to] = numbers(1, ending);
      await post('/v2/chatapp/send', { to, template: 'order_update', language: 'en_US', params: ['Asha', '1234'] });
    },
    ends: [end],
  });
  /** It fails, and the SMS is sent in its place. */
  const fallsBack: Pick<Case, 'act' | 'ends'> = {
    act: async (numbers) => {
      const fallback = { channel: 'sms', after_seconds: 3_600, message: words.message, sender: words.sender };
      const template = { template: 'order_update', language: 'en_US', params: ['Asha', '1234'] };
      await post('/v2/chatapp/send', { to: numbers(1, '302')[0], ...template, fallback });
    },
    ends: [
      { count: 1, state: 'rejected', refunded: true },
      { count: 1, state: DELIVERED },
    ],
  };
  /** A code by SMS, then by the chat app. */
  const triesAgain: Pick<Case, 'act' | 'ends'> = {
    act: async (numbers) => {
      const template = { template: 'order_update', language: 'en_US', params: ['Asha', '{code}'] };
      const { account, db, url } = product();
      const { key } = await createKey(db, systemClock, { account, name: 'Codes', scopes: ['send', 'otp'] });
      const { status, body } = await ask(`${url}/v2/verify`, key, {
        ...{ to: numbers(1)[0], sender: words.sender, message: 'Your code is {code}', expires_in: 3_600 },
        fallback: { channel: 'chatapp', after_seconds: 3_000, ...template },
      });
      expect(status, JSON.stringify(body)).equal(200);
      const _id = body.verification_id as VerificationId; // as in the answer
      await verificationsOf(db).updateOne({ _id }, { $set: { 'second.due': new Date() } });
    },
    ends: [
      { count: 1, state: DELIVERED },
      { count: 1, state: 'read', price: 2 },
    ],
  };
  const customerWrites: Pick<Case, 'act' | 'ends'> = {
    act: async (numbers) => provider().says(numbers(1)[0] ?? '', 'Where is my order?'),
    ends: [{ count: 1, state: 'received', price: 0 }],
  };
  /** Registers a webhook. The audit must have an entry for it, whatever happened to the first try. */
  const registers = (name: string): Pick<Case, 'act' | 'ends'> => ({
    async act() {
      const body = { url: `${product().receiver.url}/${name}`, events: ['message.expired'] };
      const { webhook_id: id } = await persistently(() => product().post('/v2/chatapp/webhook', body));
      const found = await product()
        .db.collection<AuditDocument>('audit')
        .find({ 'subject.id': String(id) })
        .toArray();
      expect(found.map(({ action }) => action)).to.include('webhook.register');
      expect(found.some(({ outcome, after }) => outcome === 'begun' || after?.url === body.url)).equal(true);
    },
    ends: [],
  });
  /** A batch that waits, because no carrier serves its path, and is stopped. */
  let batchId = '';
  const stops: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    async prepare(numbers) {
      batchId = String((await bulk(numbers(STOPPED), 'promotional')).batch_id);
      await eventually(
        async () => {
          const { body } = await product().get(`/v2/messages?batch_id=${batchId}`);
          return Array.isArray(body.data) && body.data.length === STOPPED;
        },
        'messages of the batch',
        SETTLED_MS,
      );
    },
    async act() {
      await persistently(() => product().delete(`/v2/batches/${batchId}`));
      await eventually(
        async () => {
          const { body } = await product().get(`/v2/batches/${batchId}`);
          if (body.state !== 'stopped') throw new Error(JSON.stringify(body));
          return true;
        },
        'the end of the batch',
        SETTLED_MS,
      );
    },
    ends: [{ count: STOPPED, state: 'rejected', refunded: true }],
  };
  /** The same, while its lines are written out. */
  const writtenOut: Pick<Case, 'act' | 'ends'> = {
    async act(numbers) {
      await stops.prepare?.(numbers);
      await stops.act(numbers);
    },
    ends: stops.ends,
  };
  // A message of an earlier case could reach the point first.
  const othersFinal = async (): Promise<void> => {
    const open = { channel: 'sms', state: { $in: ['queued', 'waiting', 'submitting', 'sent'] } };
    const none = async () => (await product().db.collection('messages').countDocuments(open)) === 0;
    await eventually(none, 'the messages of earlier cases are final', SETTLED_MS);
  };
  // The maintenance inserts what a dead gateway had only paid for.
  const othersInserted = () => {
    const pending = () =>
      product()
        .db.collection('accounts')
        .countDocuments({ pendingAt: { $exists: true } });
    return eventually(async () => (await pending()) === 0, 'nothing is pending', SETTLED_MS);
  };
  /** Claimed lines are only in the queue when the next worker comes: nobody writes them out. */
  const claimedOnly: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    prepare: othersFinal,
    async act(numbers) {
      const { db, pids } = product();
      const [background] = pids('background');
      assert(background !== undefined, 'maintenance runs');
      process.kill(background, 'SIGSTOP');
      try {
        await sendsFive.act(numbers);
        const unknown = { to: { $in: numbers(5) }, outcome: 'unknown' };
        await eventually(() => db.collection('messages').findOne(unknown), 'it is taken over', SETTLED_MS);
      } finally {
        process.kill(background, 'SIGCONT');
      }
    },
    ends: sendsFive.ends,
  };
  /** Mixed lines in one document wait until they are written out, because no worker of the carrier takes them. */
  const splits: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    prepare: othersFinal,
    async act(numbers) {
      const { db, pids, url, post: postOne } = product();
      const keys = await Promise.all(
        Array.from({ length: 6 }, async () => {
          const account = await makeAccount(db, 10);
          return (await createKey(db, systemClock, { account, name: 'Crash', scopes: ['send'] })).key;
        }),
      );
      const [worker, background] = [pids('smpp')[0], pids('background')[0]];
      assert(worker !== undefined && background !== undefined, 'they run');
      process.kill(worker, 'SIGSTOP');
      try {
        // The first one's debit keeps the others waiting, which are then paid together.
        for (const to of numbers(4)) {
          const others = keys.map((key) => ask(`${url}/v2/send`, key, { to: '919000000001', ...words }));
          for (const { status } of await Promise.all([postOne('/v2/send', { to, ...words }), ...others])) {
            expect(status).equal(200);
          }
        }
        await eventually(() => !pids('background').includes(background), 'the maintenance dies', SETTLED_MS);
      } finally {
        process.kill(worker, 'SIGCONT');
      }
    },
    ends: [{ count: 4, state: DELIVERED }],
  };
  /** Refused by the carrier at submit: rejected and refunded. */
  const refused: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    prepare: othersFinal,
    act: async (numbers) => send(numbers(1, '108')[0]),
    ends: [{ count: 1, state: 'rejected', refunded: true }],
  };

  return [
    { point: 'accept:debited', app: 'gateway', ...sendsFive },
    { point: 'accept:inserted', app: 'gateway', ...sendsFive },
    { point: 'accept:stored', app: 'gateway', ...sendsFive },
    { point: 'bulk:stored', app: 'gateway', ...sendsBulk },
    { point: 'key:claimed', app: 'gateway', ...sendsOne() },
    { point: 'key:paid', app: 'gateway', ...sendsOne() },
    { point: 'cancel:decided', app: 'gateway', ...cancels },
    { point: 'credit:applied', app: 'gateway', ...cancels },
    { point: 'credit:entered', app: 'smpp', ...refused, prepare: () => othersInserted().then(othersFinal) },
    { point: 'split:inserted', app: 'background', ...sendsBulk },
    { point: 'stop:decided', app: 'background', ...stops },
    { point: 'stop:cancelled', app: 'background', ...stops },
    { point: 'queue:marked', app: 'background', ...writtenOut },
    { point: 'queue:written', app: 'background', ...writtenOut },
    { point: 'queue:split', app: 'background', ...splits },
    { point: 'release:claimed', app: 'background', ...releases },
    { point: 'release:inserted', app: 'background', ...releases },
    { point: 'claim:taken', app: 'smpp', ...sendsOne(), prepare: othersFinal },
    { point: 'queue:taken_over', app: 'smpp', after: 'claim:taken', ...claimedOnly },
    { point: 'submit:written', app: 'smpp', ...sendsOne(), prepare: othersFinal, resent: 1 },
    { point: 'settle:intended', app: 'smpp', ...sendsOne(), prepare: othersFinal, resent: 1 },
    { point: 'settle:updated', app: 'smpp', ...refused },
    { point: 'settle:announced', app: 'smpp', ...refused },
    { point: 'settle:updated', app: 'smpp', pass: 2, ...sendsOne(), prepare: othersFinal }, // at the receipt
    { point: 'settle:announced', app: 'smpp', pass: 2, ...sendsOne(), prepare: othersFinal }, // at the receipt
    { point: 'receipt:stored', app: 'smpp', ...sendsOne() },
    { point: 'webhook:posted', app: 'webhooks', ...sendsOne() },
    {
      point: 'webhook:taken_apart',
      app: 'webhooks',
      act: (numbers) => bulk(numbers(GROUPED, FIRST_POST_FAILS)),
      ends: [{ count: GROUPED, state: DELIVERED }],
    },
    { point: 'chat:paid', app: 'gateway', ...sendsTemplate() },
    { point: 'chat:stored', app: 'gateway', ...sendsTemplate() },
    {
      point: 'chat:refund_decided',
      app: 'chatapp',
      ...sendsTemplate('302', { count: 1, state: 'rejected', refunded: true }),
    },
    {
      point: 'chat:passed_on',
      app: 'chatapp',
      async act(numbers) {
        const [to = ''] = numbers(1, '313');
        const taken = () =>
          provider()
            .taken()
            .filter((send) => send.to === to);
        for (const count of [1, 2]) {
          await post('/v2/chatapp/send', { to, template: 'order_update', language: 'en_US', params: ['Asha', '1234'] });
          await eventually(
            async () => (await product().db.collection('messages').countDocuments({ to, state: 'sent' })) === count,
            'what the provider took is stored',
            SETTLED_MS,
          );
        }
        const [opener] = taken();
        const failed = { id: opener?.id, status: 'failed', timestamp: String(Math.floor(Date.now() / 1_000)) };
        provider().post({ statuses: [{ ...failed, recipient_id: to }] });
      },
      // The conversation stays paid, because of the included message.
      ends: [
        { count: 1, state: 'failed', price: 2 },
        { count: 1, state: 'sent', price: 0 },
      ],
    },
    { point: 'fallback:decided', app: 'chatapp', ...fallsBack },
    { point: 'fallback:paid', app: 'chatapp', ...fallsBack },
    { point: 'second_try:decided', app: 'chatapp', ...triesAgain },
    { point: 'second_try:paid', app: 'chatapp', ...triesAgain },
    // The provider accepted the message, but the worker died before storing that: the status settles it.
    { point: 'chat:answered', app: 'chatapp', ...sendsTemplate() },
    { point: 'callback:heard', app: 'gateway', ...customerWrites },
    { point: 'inbox:linked', app: 'chatapp', ...customerWrites },
    { point: 'inbox:stored', app: 'chatapp', ...customerWrites },
    { point: 'audit:begun', app: 'gateway', ...registers('begun') },
    { point: 'audit:changed', app: 'gateway', ...registers('changed') },
    {
      point: 'pending:redone',
      app: 'background',
      async act(numbers) {
        const died = await product().arm('gateway', 'accept:debited');
        await Promise.all([died(), send(numbers(1)[0])]);
      },
      ends: [{ count: 1, state: DELIVERED }],
    },
  ];
}
