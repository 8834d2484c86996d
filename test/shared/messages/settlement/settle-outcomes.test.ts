import { MongoNetworkError } from 'mongodb';
import type { StateChange } from '../../../../shared/events/catalogue.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../../../shared/messages/settlement/settle-outcomes.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

const SENT = { kind: 'sent', parts: [{ state: 'accepted', key: 'c:1' }] } as const;

describe('OutcomeSettler', () => {
  const clock = new ManualClock();
  const store = useStore();

  const messages = () => store.db.collection<MessageDocument>('messages');
  const put = async (): Promise<MessageDocument> => {
    const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    const message = makeMessage({ state: 'submitting', claim, v: 1 });
    await messages().insertOne(message);
    return message;
  };
  const open = (announce: (changes: readonly StateChange[]) => Promise<void>, groups: number[] = []): OutcomeSettler =>
    new OutcomeSettler({
      settler: new Settler({
        db: store.db,
        announcer: { announce },
        lease: newId('req'),
        epoch: 1,
        stream: 'outcomes',
      }),
      clock,
      log: silentLog,
      onKeys: () => {},
      onGroup: (size) => groups.push(size),
    });

  it('settles many in one group and tells each what is stored', async () => {
    const claimed = await Promise.all(Array.from({ length: 50 }, put));
    const groups: number[] = [];
    const outcomes = open(async () => {}, groups);

    const stored = await Promise.all(claimed.map((message) => outcomes.add(message, SENT)));

    expect(stored.map((message) => message?.state)).to.deep.equal(claimed.map(() => 'sent'));
    expect(groups).to.deep.equal([50]);
    expect(outcomes.open).to.equal(0);
  });

  it('tries again while the store is away: an answer is known to nobody else', async () => {
    const message = await put();
    let away = 2;
    const outcomes = open(async () => {
      if (away-- > 0) throw new MongoNetworkError('away');
    });

    const stored = await outcomes.add(message, SENT);

    expect(stored?.state).to.equal('sent');
    expect(away).to.be.below(0);
  });

  it('one that cannot be settled holds up no other', async () => {
    const [bad, ...good] = await Promise.all(Array.from({ length: 4 }, put));
    const outcomes = open(async (changes) => {
      if (changes.some(({ message }) => message._id === bad?._id)) throw new TypeError('not storable');
    });

    const stored = await Promise.all([bad, ...good].flatMap((message) => (message ? outcomes.add(message, SENT) : [])));

    const states = await messages()
      .find({ _id: { $in: good.map((message) => message._id) } })
      .toArray();
    expect(stored).to.have.length(4);
    expect(states.map(({ state }) => state)).to.deep.equal(['sent', 'sent', 'sent']);
  });

  it('gives up at the end of the process, with an error', async () => {
    const message = await put();
    const outcomes = open(async () => {
      throw new MongoNetworkError('away');
    });
    const added = outcomes.add(message, SENT).catch((error: unknown) => error);

    outcomes.giveUp();

    expect(await added).to.be.instanceOf(MongoNetworkError);
  });

  it('settled() waits for what was added before it, not for ever', async () => {
    const message = await put();
    let release: (() => void) | undefined;
    const outcomes = open(() => new Promise((resolve) => (release = resolve)));
    const added = outcomes.add(message, SENT);

    await outcomes.settled(20);
    const before = (await messages().findOne({ _id: message._id }))?.state;
    const waiting = outcomes.settled(60_000);
    while (release === undefined) await new Promise((resolve) => setImmediate(resolve));
    release();
    await Promise.all([added, waiting]);

    expect(['submitting', 'sent']).to.include(before);
    await outcomes.settled(60_000);
  });
});
