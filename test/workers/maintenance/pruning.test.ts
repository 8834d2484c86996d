import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { queueDocument } from '../../../shared/messages/queue/queue-document.ts';
import { insertAgain, queueOf } from '../../../shared/messages/queue/queue-store.ts';
import type { ScheduleDocument } from '../../../shared/messages/schedule.ts';
import type { ConversationDocument } from '../../../shared/money/conversations/conversation.ts';
import { newId, queueId } from '../../../shared/platform/runtime/ids.ts';
import { pruneConversations, pruneOld } from '../../../workers/maintenance/prune.ts';
import { makeMessage } from '../../support/make.ts';
import { DAYS, pruneWorld } from '../../support/prune-world.ts';
import { enqueue, writeOutAll } from '../../support/queue.ts';
import { makeChatMessage } from '../chatapp/make.ts';

describe('maintenance: what ended long ago is removed, conversations', () => {
  const world = pruneWorld();
  const { daysAgo, deps, idsIn } = world;

  it('conversations go when neither side has had to do with the other for long', async () => {
    const customer = (number: string, overrides: Partial<ConversationDocument> = {}): ConversationDocument => ({
      _id: `acc_a:${number}`,
      account: 'acc_a',
      customer: number,
      ...overrides,
    });
    const current = (days: number): Pick<ConversationDocument, 'current'> => ({
      current: {
        id: newId('cnv'),
        number: 1,
        by: 'business',
        credits: 2,
        opener: newId('msg'),
        group: newId('grp'),
        openedAt: daysAgo(days + 1),
        until: daysAgo(days),
      },
    });
    const refunded = (days: number) => newId('cnv', daysAgo(days).getTime());
    await world.store.db.collection<ConversationDocument>('conversations').insertMany([
      customer('1', { lastInboundAt: daysAgo(91) }),
      customer('2', current(91)),
      customer('3', { lastInboundAt: daysAgo(95), ...current(91) }),
      customer('4', { lastInboundAt: daysAgo(89), ...current(91) }),
      customer('5', { lastInboundAt: daysAgo(91), ...current(89) }),
      // Was made just now, for a conversation that is being opened.
      customer('6'),
      // Never wrote, and its conversations were given back: probably a number without the app.
      customer('7', { openings: 1, judged: 1, refunded: [refunded(91)] }),
      customer('8', { openings: 2, judged: 2, refunded: [refunded(91), refunded(89)] }),
      customer('9', { lastInboundAt: daysAgo(91), refunded: [refunded(89)] }),
      // Only known as another number of a customer.
      customer('a', { aliases: ['1'], linkedAt: daysAgo(91) }),
      customer('b', { aliases: ['1'], linkedAt: daysAgo(89) }),
      customer('c', { aliases: ['1'], linkedAt: daysAgo(91), ...current(89) }),
    ]);

    await pruneConversations(deps());

    const left = ['acc_a:4', 'acc_a:5', 'acc_a:6', 'acc_a:8', 'acc_a:9', 'acc_a:b', 'acc_a:c'];
    expect(await idsIn('conversations')).to.deep.equal(left);
  });
});

describe('maintenance: what ended long ago is removed, lines', () => {
  const world = pruneWorld();
  const { daysAgo, deps } = world;
  const hoursAgo = (hours: number) => daysAgo(hours / 24);
  const message = (validUntil: Date) => makeMessage({ _id: newId('msg', daysAgo(2).getTime()), validUntil });

  it('go an hour after the validity of their messages; what is valid, or not written out, stays', async () => {
    const { db } = world.store;
    await enqueue(db, [message(hoursAgo(2))]);
    await enqueue(db, [message(hoursAgo(-1)), message(hoursAgo(2))]);
    await enqueue(db, [message(hoursAgo(0.5))]);
    await writeOutAll(db);
    await enqueue(db, [message(hoursAgo(3))]);

    await pruneOld(deps());

    const stayed = await queueOf(db).find().sort({ until: 1 }).toArray();
    expect(stayed.map(({ written }) => written)).to.deep.equal([undefined, true, true]);
  });

  it('of which an insert may still come late end first, and are kept for a day', async () => {
    const { db } = world.store;
    const one = message(hoursAgo(2));
    await insertAgain(db, [queueDocument(queueId(one._id, 0), [one], daysAgo(1))], daysAgo(1));
    await writeOutAll(db);

    await pruneOld(deps());
    await pruneOld(deps());

    const [kept] = await queueOf(db).find().toArray();
    expect(kept).to.deep.include({ removeAt: daysAgo(-1) });
    expect(kept).not.to.have.property('open');
  });
});

describe('maintenance: what ended long ago is removed, schedules', () => {
  const world = pruneWorld();
  const { daysAgo, deps, idsIn, schedule } = world;

  it('schedules go long after their time; what waits for it, or for a refund, stays', async () => {
    const stay = [
      schedule(100, { state: 'scheduled', due: daysAgo(100) }),
      schedule(100, { state: 'cancelled', due: daysAgo(100) }),
      schedule(100, { at: daysAgo(59) }),
      schedule(100, { releasedAt: daysAgo(1) }),
      schedule(59),
    ];
    const gone = [schedule(61), schedule(100, { state: 'cancelled' })];
    await world.store.db.collection<ScheduleDocument>('schedules').insertMany([...stay, ...gone]);

    await pruneOld(deps());

    expect(await idsIn('schedules')).to.have.members(stay.map(({ _id }) => _id));
  });
});

describe('maintenance: texts of messages are removed after HARKARA_TEXT_DAYS', () => {
  const { deps, delivered, put, messages, daysAgo } = pruneWorld();
  const retention = { ...DAYS, texts: 30 };
  const withText = async () =>
    (
      await messages()
        .find({ text: { $exists: true } })
        .toArray()
    ).map(({ _id }) => _id);

  it('of what ended before; the message stays, and what has not ended keeps its text', async () => {
    const [, young, open] = await put([
      delivered(40),
      delivered(29),
      delivered(40, { state: 'queued', history: [], due: daysAgo(38) }),
    ]);

    await pruneOld(deps({ retention }));

    expect(await withText()).to.have.members([young, open]);
    expect(await messages().countDocuments({ state: 'delivered', segments: 1 })).to.equal(2);
  });

  it('also the words and values of chat-app messages', async () => {
    const { _id, state, history } = delivered(40);
    const { due: _, ...old } = makeChatMessage({
      ...{ _id, state, history },
      content: { kind: 'template', name: 'order_update', language: 'en_US', params: ['Asha'] },
    });
    await put([old]);

    await pruneOld(deps({ retention }));

    const [message] = await messages().find<ChatMessageDocument>({}).toArray();
    expect(message?.content).to.deep.equal({ kind: 'template', name: 'order_update', language: 'en_US' });
  });

  it('a later run goes on where the last one was, and still finds what ended late', async () => {
    const [old] = await put([delivered(80), delivered(43, { history: [{ state: 'delivered', at: daysAgo(31) }] })]);

    await pruneOld(deps({ retention }), daysAgo(0));

    expect(await withText()).to.deep.equal([old]);
  });
});
