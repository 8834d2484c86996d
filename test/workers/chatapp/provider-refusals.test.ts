import { explain } from '../../../gateway/endpoints/messages/explain/explain.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { findProvider, resumeProvider } from '../../../shared/carriers/providers/store.ts';
import type { MessageState } from '../../../shared/messages/document/message.ts';
import { readMessageLog } from '../../../shared/messages/settlement/message-log.ts';
import { listChatTemplates } from '../../../shared/templates/chat/store.ts';
import { eventually } from '../../support/eventually.ts';
import { silentLog } from '../../support/silent-log.ts';
import { graphError, json, type ProviderServer } from './provider-server.ts';
import { chatWorld, customers } from './world.ts';

function refusing(code: number, status = 400): ProviderServer['answer'] {
  return (_, res) => json(res, status, graphError(code));
}

describe('chatapp worker: what the provider refuses', () => {
  const world = chatWorld();

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

  it('134101: a template that is too new is tried again after ten minutes, and holds up nothing else for its customer', async () => {
    const account = await world.openAccount((send, res, accept) => {
      if (JSON.stringify(send.body.template).includes('hello')) json(res, 400, graphError(134_101));
      else accept();
    });
    const [early] = await world.queue(account, {});
    await world.startWorker();

    const waiting = await world.until(early?._id ?? 'msg_', ({ state }) => state === 'waiting');
    const waitsMs = (waiting.due?.getTime() ?? 0) - Date.now();
    expect(waitsMs).to.be.within(450_000, 750_000);
    expect(waiting.tries).to.equal(1);

    const content = { kind: 'template', name: 'other', language: 'en', params: [] } as const;
    const [next] = await world.queue(account, { content });
    await world.until(next?._id ?? 'msg_', ({ state }) => state === 'sent');
  });

  it('an unknown code with HTTP 403: the channel goes on, and the code is logged once', async () => {
    const account = await world.openAccount((send, res, accept) => {
      if (send.to.endsWith('1')) json(res, 403, graphError(777));
      else accept();
    });
    await world.queue(account, ...customers(21).map((to) => ({ to })));
    const logged: unknown[] = [];
    await world.startWorker({
      log: {
        ...silentLog,
        error: (event, { message_id: _, ...fields } = {}) => void logged.push({ event, ...fields }),
      },
    });

    await world.allIn(account, 'sent', 19);
    await world.allIn(account, 'rejected', 2);

    expect((await findProvider(world.store.db, account.number))?.status).to.equal('active');
    expect(logged).to.deep.equal([{ event: 'provider_forbids', account: account.id, code: 777 }]);
  });

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

  it('held_for_quality_assessment: the message is sent, and it and its template say so', async () => {
    const word = 'held_for_quality_assessment';
    const account = await world.openAccount((_, res) =>
      json(res, 200, { messages: [{ id: 'wamid.1', message_status: word }] }),
    );
    account.provider.pages = [[{ name: 'hello', status: 'APPROVED', language: 'en', category: 'UTILITY' }]];
    const stored = () => listChatTemplates(world.store.db, account.id);
    await world.startWorker();
    await eventually(async () => (await stored()).length === 1, 'the list is copied');

    const [message] = await world.queue(account, {});

    const held = await world.until(message?._id ?? 'msg_', ({ state }) => state === 'sent');
    expect(held.heldBack).to.equal(word);
    expect(explain(held)?.cause).to.match(/holds it back/);
    await eventually(async () => (await stored())[0]?.heldBack?.word === word, 'the template says so');
    expect((await stored())[0]?.status).to.equal('approved');
  });

  for (const code of [190, 131_042]) {
    it(`${code}: the channel is stopped, what waits waits, and goes when it is resumed`, async () => {
      const account = await world.openAccount(refusing(code, 401), { windowSize: 1 });
      await world.queue(account, ...customers(5).map((to) => ({ to })));
      await world.startWorker();
      const { db } = world.store;

      await eventually(async () => (await findProvider(db, account.number))?.stoppedReason, 'the channel is stopped');
      const stopped = await findProvider(db, account.number);
      expect(stopped?.status).to.equal('paused');
      expect(stopped?.stoppedReason).to.match(new RegExp(`^provider_\\w+: \\(${code}\\) in detail$`));
      await world.allIn(account, 'queued', 5);
      expect(account.provider.sends).to.have.length(1);

      account.provider.answer = (_, __, accept) => accept();
      await resumeProvider(db, account.number);
      await world.allIn(account, 'sent', 5);
    });
  }

  it('a number id that the provider does not know: the channel is stopped, and no message is lost', async () => {
    const error = graphError(100, 'Unsupported post request', { type: 'GraphMethodException', error_subcode: 33 });
    const account = await world.openAccount((_, res) => json(res, 400, error), { windowSize: 1 });
    await world.queue(account, ...customers(5).map((to) => ({ to })));
    await world.startWorker();
    const { db } = world.store;

    await eventually(async () => (await findProvider(db, account.number))?.stoppedReason, 'the channel is stopped');

    await world.allIn(account, 'queued', 5);
    expect(account.provider.sends).to.have.length(1);
  });

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

  for (const [code, tries, state, ours] of [
    [131_053, 0, 'waiting', undefined],
    [131_053, 1, 'rejected', 'media_unavailable'],
    [1, 0, 'waiting', undefined],
    [1, 1, 'rejected', 'provider_refused'],
  ] as const satisfies readonly (readonly [number, number, MessageState, string | undefined])[]) {
    it(`${code} at try ${tries + 1}: ${state}`, async () => {
      const account = await world.openAccount(refusing(code));
      const [message] = await world.queue(account, { tries });
      await world.startWorker();

      const after = await world.until(message?._id ?? 'msg_', (stored) => stored.state === state);
      expect(after.errorCode).to.equal(ours);
    });
  }

  it('131042: the provider is asked again by itself, and what waits goes when it may send', async () => {
    const account = await world.openAccount(refusing(131_042));
    const { provider } = account;
    const [first, second] = await world.queue(account, { to: '919000000001' }, { to: '919000000002' });
    const found = () => findProvider(world.store.db, account.number);
    /** Makes the next probe due. Resolves with its result. */
    const probed = async (fits: (one: Awaited<ReturnType<typeof found>>) => boolean, what: string) => {
      await world.store.db
        .collection<ProviderDocument>('providers')
        .updateOne({ account: account.id }, { $set: { 'probe.at': new Date(Date.now() - 1) } });
      await eventually(async () => fits(await found()), what);
    };
    provider.health = 'BLOCKED';
    await world.startWorker();
    await eventually(async () => (await found())?.stoppedReason !== undefined, 'the channel is stopped');
    expect((await found())?.probe?.tries).to.equal(1);

    await probed((one) => one?.probe?.tries === 2, 'it is blocked still');
    const sends = provider.sends.length;
    // It does not say, so one message tries it and is refused.
    provider.health = undefined;
    await probed((one) => one?.probe?.tries === 3, 'it is stopped again');
    expect(provider.sends.length).to.equal(sends + 1);
    expect((await found())?.status).to.equal('paused');

    provider.answer = (_, __, accept) => accept();
    await probed((one) => one?.status === 'active', 'it is tried');
    await eventually(async () => (await found())?.trial === undefined, 'a message was taken');
    for (const one of [first, second]) await world.until(one?._id ?? 'msg_', ({ state }) => state === 'sent');
  });
});
