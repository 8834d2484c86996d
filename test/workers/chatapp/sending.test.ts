import { expect } from 'chai';
import { pauseAccount, setAccountStatus } from '../../../shared/accounts/store.ts';
import type { ChatTemplateDocument } from '../../../shared/chat-templates/chat-template.ts';
import { listChatTemplates, replaceChatTemplates } from '../../../shared/chat-templates/store.ts';
import { createChatAccepter } from '../../../shared/conversations/open.ts';
import { recordInbound } from '../../../shared/conversations/store.ts';
import type { LedgerEntryDocument } from '../../../shared/ledger/entry.ts';
import type { MessageState } from '../../../shared/messages/message.ts';
import { chatMessageKey } from '../../../shared/providers/message-key.ts';
import { findProvider, resumeProvider } from '../../../shared/providers/store.ts';
import { systemClock as clock } from '../../../shared/runtime/clock.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { readMessageLog } from '../../../shared/settlement/log-store.ts';
import { makeChatTemplate } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { graphError, json, type ProviderServer } from './provider-server.ts';
import { chatWorld, customers } from './world.ts';

/** The provider refuses everything so. */
function refusing(code: number, status = 400): ProviderServer['answer'] {
  return (_, res) => json(res, status, graphError(code));
}

describe('chatapp worker: sending', function () {
  this.timeout(60_000);
  const world = chatWorld();

  it('a queued message leaves once, is sent with the provider’s id, and its event is told', async () => {
    const account = await world.openAccount();
    const [message] = await world.queue(account, { reference: 'order 7' });
    await world.startWorker();

    const sent = await world.until(message?._id ?? 'msg_', ({ state }) => state === 'sent');

    const [send] = account.provider.sends;
    expect(account.provider.sends).to.have.length(1);
    expect(send).to.include({ path: '/v23.0/1055/messages', to: sent.to, ours: sent._id });
    expect(sent.parts).to.deep.equal([{ key: chatMessageKey(account.id, 'wamid.1'), state: 'accepted' }]);
    await eventually(async () => (await world.events(account)).length === 1, 'its event');
    expect((await world.events(account))[0]).to.include({
      event: 'message.sent',
      message_id: sent._id,
      reference: 'order 7',
      conversation_id: sent.conversation,
    });
  });

  it('what is queued while the worker is idle leaves soon', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    await world.queue(account, {}, { to: '918888888888' });

    await world.allIn(account, 'sent', 2);
  });

  const FINAL: readonly (readonly [code: number, ours: string])[] = [
    [100, 'invalid_parameter'],
    [131_047, 'session_closed'],
    [131_026, 'undeliverable'],
    [131_048, 'spam_rate_limited'],
    [131_049, 'marketing_limit_reached'],
    [132_001, 'template_not_found'],
    [777, 'provider_refused'],
  ];
  for (const [code, ours] of FINAL) {
    it(`${code}: the message is rejected (${ours}), with the provider’s code and words, and not sent again`, async () => {
      const account = await world.openAccount(refusing(code));
      const [message] = await world.queue(account, {});
      await world.startWorker();

      const rejected = await world.until(message?._id ?? 'msg_', ({ state }) => state === 'rejected');

      expect(rejected).to.include({ errorCode: ours, errorReason: `(${code}) in detail` });
      expect(rejected).not.to.have.property('due');
      expect(account.provider.sends).to.have.length(1);
    });
  }

  for (const [code, status] of [
    [132_015, 'paused'],
    [132_016, 'disabled'],
  ] as const) {
    it(`${code}: the template is ${status} from now on`, async () => {
      const account = await world.openAccount(refusing(code));
      account.provider.pages = [[{ name: 'hello', status: 'APPROVED', language: 'en', category: 'UTILITY' }]];
      await world.startWorker();
      const stored = () => listChatTemplates(world.store.db, account.id);
      await eventually(async () => (await stored()).length === 1, 'the list is copied');

      await world.queue(account, {});

      await eventually(async () => (await stored())[0]?.status === status, 'the template is marked');
    });
  }

  for (const code of [190, 131_042]) {
    it(`${code}: the channel is stopped, what waits waits, and goes when it is resumed`, async () => {
      const account = await world.openAccount(refusing(code, 401), { windowSize: 1 });
      await world.queue(account, ...customers(5).map((to) => ({ to })));
      await world.startWorker();
      const { db } = world.store;

      await eventually(async () => (await findProvider(db, account.id))?.stoppedReason, 'the channel is stopped');
      const stopped = await findProvider(db, account.id);
      expect(stopped?.status).to.equal('paused');
      expect(stopped?.stoppedReason).to.match(new RegExp(`^provider_\\w+: \\(${code}\\) in detail$`));
      await world.allIn(account, 'queued', 5);
      expect(account.provider.sends).to.have.length(1);

      account.provider.answer = (_, __, accept) => accept();
      await resumeProvider(db, account.id);
      await world.allIn(account, 'sent', 5);
    });
  }

  it('what the provider refused is kept for the timeline, a usual message is not', async () => {
    const account = await world.openAccount((send, res, accept) => {
      if (send.to.endsWith('1')) json(res, 400, graphError(131_026));
      else accept();
    });
    const [usual, refused] = await world.queue(account, ...customers(2).map((to) => ({ to })));
    await world.startWorker();
    await world.allIn(account, 'rejected', 1);
    await world.allIn(account, 'sent', 1);

    await eventually(
      async () => (await readMessageLog(world.store.db, refused?._id ?? 'msg_')).length === 1,
      'what was refused is kept',
    );
    const [record] = await readMessageLog(world.store.db, refused?._id ?? 'msg_');
    expect(record).to.include({
      kind: 'answer',
      outcome: 'rejected',
      code: 'undeliverable',
      reason: '(131026) in detail',
    });
    expect(await readMessageLog(world.store.db, usual?._id ?? 'msg_')).to.deep.equal([]);
  });

  for (const code of [131_000, 131_016]) {
    it(`${code}: the message waits for its next try`, async () => {
      const account = await world.openAccount(refusing(code, 500));
      const [message] = await world.queue(account, {});
      await world.startWorker();

      const waiting = await world.until(message?._id ?? 'msg_', ({ state }) => state === 'waiting');

      expect(waiting.tries).to.equal(1);
      expect((waiting.due?.getTime() ?? 0) - Date.now()).to.be.within(0, 6_000);
      expect(account.provider.sends).to.have.length(1);
    });
  }

  it('131000 at the fifth try: rejected', async () => {
    const account = await world.openAccount(refusing(131_000, 500));
    const [message] = await world.queue(account, { tries: 4 });
    await world.startWorker();

    expect(await world.until(message?._id ?? 'msg_', ({ state }) => state === 'rejected')).to.include({
      errorCode: 'provider_unavailable',
      tries: 5,
    });
  });

  for (const [tries, state] of [
    [0, 'waiting'],
    [1, 'rejected'],
  ] as const satisfies readonly (readonly [number, MessageState])[]) {
    it(`131053 at try ${tries + 1}: ${state}`, async () => {
      const account = await world.openAccount(refusing(131_053));
      const [message] = await world.queue(account, { tries });
      await world.startWorker();

      const after = await world.until(message?._id ?? 'msg_', (stored) => stored.state === state);
      if (state === 'rejected') expect(after.errorCode).to.equal('media_unavailable');
    });
  }

  it('131056: this customer waits, in its order, the others go on', async () => {
    const asha = '919999999999';
    const account = await world.openAccount((send, res, accept) => {
      if (send.to === asha) json(res, 400, graphError(131_056));
      else accept();
    });
    await world.queue(account, { to: asha }, { to: asha }, ...customers(20).map((to) => ({ to })));
    await world.startWorker();

    await world.allIn(account, 'sent', 20);
    await world.allIn(account, 'queued', 2);

    expect(account.provider.sends.filter(({ to }) => to === asha)).to.have.length(1);
  });

  it('a storm of 429: all arrive once it is over, none twice, none rejected', async () => {
    let refused = 0;
    const account = await world.openAccount(
      (_, res, accept) => {
        if (refused >= 30) accept();
        else {
          refused++;
          json(res, 429, graphError(130_429));
        }
      },
      { perSecond: 1_000, windowSize: 30 },
    );
    await world.queue(account, ...customers(60).map((to) => ({ to })));
    await world.startWorker();

    await world.allIn(account, 'sent', 60);

    const accepted = account.provider.sends.filter(({ wamid }) => wamid !== undefined);
    expect(accepted).to.have.length(60);
    expect(new Set(accepted.map(({ ours }) => ours)).size).to.equal(60);
    expect(await world.messages.countDocuments({ account: account.id, tries: { $gt: 0 } })).to.equal(0);
  });

  it('never has more sends open than the window, one to a customer, each customer’s in order', async () => {
    const open = new Set<string>();
    const together: string[] = [];
    const account = await world.openAccount(
      (send, res, accept) => {
        if (open.has(send.to)) together.push(send.to);
        open.add(send.to);
        res.on('finish', () => open.delete(send.to));
        setTimeout(accept, Math.random() * 20);
      },
      { perSecond: 1_000, windowSize: 4 },
    );
    const people = customers(6);
    const queued = await world.queue(account, ...Array.from({ length: 60 }, (_, i) => ({ to: people[i % 6] ?? '' })));
    await world.startWorker();

    await world.allIn(account, 'sent', 60);

    expect(together).to.deep.equal([]);
    expect(account.provider.mostOpen).to.be.within(2, 4);
    for (const to of people) {
      const order = account.provider.sends.filter((send) => send.to === to).map(({ ours }) => ours);
      expect(order).to.deep.equal(queued.filter((message) => message.to === to).map(({ _id }) => _id));
    }
  });

  it('keeps the pause between two messages to one customer', async () => {
    const account = await world.openAccount(undefined, { perCustomerMs: 300 });
    await world.queue(account, {}, {}, {});
    await world.startWorker();

    await world.allIn(account, 'sent', 3);

    const stored = await world.messages.find({ account: account.id }).toArray();
    const claimedAtMs = new Map(stored.map(({ _id, claim }) => [String(_id), claim?.at.getTime() ?? 0]));
    const pauses = account.provider.sends.slice(1).map(({ atMs }, i) => {
      // Its send began behind its claim; when it arrived depends on how busy the machine is.
      const before = claimedAtMs.get(String(account.provider.sends[i]?.ours)) ?? 0;
      return performance.timeOrigin + atMs - before;
    });
    // Timers and the clocks that are read differ by some milliseconds.
    expect(pauses).to.have.length(2);
    expect(Math.min(...pauses), String(pauses)).to.be.within(280, 60_000);
  });

  it('a provider that never answers holds up its own account only; its sends are unknown and not sent again', async () => {
    const slow = await world.openAccount(() => {}, { windowSize: 2, timeoutMs: 500 });
    const quick = await world.openAccount();
    const failing = await world.openAccount(refusing(131_000, 503));
    const people = customers(40).map((to) => ({ to }));
    await world.queue(slow, ...people);
    await world.queue(failing, ...people);
    await world.queue(quick, ...people);
    await world.startWorker();

    await world.allIn(quick, 'sent', 40);

    const unknown = () => world.messages.countDocuments({ account: slow.id, state: 'submitting', outcome: 'unknown' });
    // Five failures open the breaker; those in flight then end too.
    await eventually(async () => (await unknown()) >= 5, 'unknown sends');
    expect(new Set(slow.provider.sends.map(({ ours }) => ours)).size).to.equal(slow.provider.sends.length);
    expect(slow.provider.mostOpen).to.equal(2);
    expect(slow.provider.sends.length).to.be.below(20);
  });

  it('a provider that is not there: nothing is lost or counted as a try, and all goes when it is back', async () => {
    const away = await world.openAccount();
    const { port } = new URL(away.provider.url);
    await away.provider.close();
    await world.queue(away, ...customers(10).map((to) => ({ to })));
    await world.startWorker();
    await eventually(
      async () => (await world.messages.countDocuments({ account: away.id, v: { $gte: 4 } })) >= 1,
      'sends were tried',
    );

    const back = await world.openAccount();
    // The same address would do; a change of it is seen too.
    await world.store.db
      .collection('providers')
      .updateOne({ _id: away.id as never }, { $set: { baseUrl: back.provider.url } });

    await world.allIn(away, 'sent', 10);
    expect(port).not.to.equal('');
    expect(await world.messages.countDocuments({ account: away.id, tries: { $gt: 0 } })).to.equal(0);
    expect(back.provider.sends).to.have.length(10);
  });

  it('messages of an account that is held wait until it is not', async () => {
    const account = await world.openAccount();
    const other = await world.openAccount();
    await pauseAccount(world.store.db, account.id);
    await world.startWorker();
    await world.queue(account, {});
    await world.queue(other, {});
    await world.allIn(other, 'sent', 1);
    expect(account.provider.sends).to.deep.equal([]);

    await setAccountStatus(world.store.db, account.id, 'active');

    await world.allIn(account, 'sent', 1);
  });

  it('a text whose session has closed while it waited is rejected and never reaches the provider', async () => {
    const account = await world.openAccount();
    const text = { content: { kind: 'text', text: 'hi' } } as const;
    const [late, fresh] = customers(2);
    await recordInbound(world.store.db, [
      { account: account.id, customer: late ?? '', at: new Date(Date.now() - 25 * 3_600_000) },
      { account: account.id, customer: fresh ?? '', at: new Date() },
    ]);
    const [closed] = await world.queue(account, { ...text, to: late ?? '' }, { ...text, to: fresh ?? '' });
    await world.startWorker();

    const rejected = await world.until(closed?._id ?? 'msg_', ({ state }) => state === 'rejected');
    await world.allIn(account, 'sent', 1);

    expect(rejected.errorCode).to.equal('session_closed');
    expect(account.provider.sends.map(({ to }) => to)).to.deep.equal([fresh]);
  });

  for (const [what, look] of [
    ['it is not known whether they may leave', async () => new Map()],
    [
      'the store fails at the look',
      async () => {
        throw new Error('the store is away');
      },
    ],
  ] as const) {
    it(`messages that were claimed go back to their places when ${what}, and leave later, once`, async () => {
      const account = await world.openAccount();
      let looks = 0;
      const queued = await world.queue(account, ...customers(5).map((to) => ({ to })));
      await world.startWorker({
        depart: async (messages) => {
          if (++looks === 1) {
            expect(messages.map(({ state }) => state)).to.deep.equal(queued.map(() => 'submitting'));
            return look();
          }
          return new Map(messages.map((one) => [one._id, { kind: 'go', conversation: one.conversation }]));
        },
      });

      await world.allIn(account, 'sent', queued.length);

      expect(looks).to.be.greaterThan(1);
      expect(account.provider.sends).to.have.length(queued.length);
      const stored = await Promise.all(queued.map(({ _id }) => world.read(_id)));
      expect(stored.map(({ tries, history }) => [tries, history.length])).to.deep.equal(queued.map(() => [0, 1]));
    });
  }

  it('what rode with a text that is refused here pays for another conversation before it leaves', async () => {
    const { db } = world.store;
    const account = await world.openAccount();
    const prices = { userCredits: 1, businessCredits: 2 };
    const accepter = createChatAccepter({ db, clock, log: silentLog, prices });
    const all = customers(10);
    const wrote = (at: Date) => all.map((customer) => ({ account: account.id, customer, at }));
    await recordInbound(db, wrote(new Date()));
    const validUntil = new Date(Date.now() + 3_600_000);
    for (const to of all) {
      await accepter.accept(account.id, { _id: newId('msg'), to, content: { kind: 'text', text: 'hi' }, validUntil });
      const content = { kind: 'template', name: 'hello', language: 'en', params: [] } as const;
      await accepter.accept(account.id, { _id: newId('msg'), to, content, validUntil });
    }
    await db
      .collection('conversations')
      .updateMany({ account: account.id }, { $set: { lastInboundAt: new Date(Date.now() - 25 * 3_600_000) } });

    await world.startWorker();

    await world.allIn(account, 'rejected', all.length);
    await world.allIn(account, 'sent', all.length);
    const ledger = await db.collection<LedgerEntryDocument>('ledger').find({ account: account.id }).toArray();
    const chats = ledger.filter(({ reason }) => reason === 'conversation' || reason === 'refund');
    expect(chats.map(({ reason, amount }) => `${reason} ${amount}`).sort()).to.deep.equal([
      ...all.map(() => 'conversation -1'),
      ...all.map(() => 'conversation -2'),
      ...all.map(() => 'refund 1'),
    ]);
  });

  it('copies the provider’s templates, page by page; what is not listed any more goes', async () => {
    const account = await world.openAccount();
    const gone: ChatTemplateDocument = makeChatTemplate(account.id, { name: 'gone' });
    await replaceChatTemplates(world.store.db, account.id, [gone]);
    account.provider.pages = [
      [
        {
          name: 'a',
          status: 'APPROVED',
          language: 'en',
          category: 'UTILITY',
          components: [{ type: 'BODY', text: '{{1}}' }],
        },
      ],
      [
        {
          name: 'b',
          status: 'PENDING',
          language: 'en',
          category: 'MARKETING',
          components: [{ type: 'HEADER', format: 'IMAGE' }],
        },
      ],
    ];
    await world.startWorker();

    const stored = () => listChatTemplates(world.store.db, account.id);
    await eventually(async () => (await stored()).length === 2, 'the list is copied');

    const copied = await stored();
    expect(
      copied.map(({ name, status, variables, unsendable }) => [name, status, variables, unsendable]),
    ).to.deep.equal([
      ['a', 'approved', 1, undefined],
      ['b', 'pending', 0, 'a header of type image'],
    ]);
    expect(account.provider.lists).to.have.length(2);
  });

  it('a list that cannot be read whole changes nothing', async () => {
    const account = await world.openAccount();
    const kept = makeChatTemplate(account.id);
    await replaceChatTemplates(world.store.db, account.id, [kept]);
    account.provider.pages = [[], 'no page' as never];
    await world.startWorker();
    await eventually(() => account.provider.lists.length >= 2, 'the list was asked for');
    await world.queue(account, {});
    await world.allIn(account, 'sent', 1);

    expect(await listChatTemplates(world.store.db, account.id)).to.have.length(1);
  });

  it('a stop waits for the answers that are under way, and stores them', async () => {
    const account = await world.openAccount((_, __, accept) => setTimeout(accept, 300), { windowSize: 10 });
    await world.queue(account, ...customers(30).map((to) => ({ to })));
    const worker = await world.startWorker();
    await eventually(() => account.provider.sends.length >= 5, 'sends are under way');

    await worker.stop();

    const sent = account.provider.sends.length;
    expect(await world.messages.countDocuments({ state: 'sent' })).to.equal(sent);
    expect(await world.messages.countDocuments({ state: 'queued' })).to.equal(30 - sent);
    expect(await world.store.db.collection('leases').countDocuments({ until: { $gt: new Date(1) } })).to.equal(0);
  });
});
