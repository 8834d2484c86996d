import type { StateChange } from '../../../../shared/events/catalogue.ts';
import type { Announcer } from '../../../../shared/events/webhooks/announce.ts';
import { type Change, entryAt } from '../../../../shared/messages/document/change.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { readIntents, redoIntents } from '../../../../shared/messages/settlement/intents.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { useStore } from '../../../support/store.ts';

const LEASE = 'carrier:c';

class HeldAnnouncer implements Announcer {
  readonly begun: string[] = [];
  readonly told: string[] = [];
  #let = (): void => {};
  #fail = (_: Error): void => {};

  async announce(changes: readonly StateChange[]): Promise<void> {
    const named = changes.map(({ message, entry }) => `${message._id} ${entry.state}`);
    this.begun.push(...named);
    await new Promise<void>((resolve, reject) => {
      this.#let = resolve;
      this.#fail = reject;
    });
    this.told.push(...named);
  }

  let(): void {
    this.#let();
  }

  fail(): void {
    this.#fail(new Error('the store is away'));
  }
}

describe('Settler: the follow-up of a group goes on beside the next group', () => {
  const clock = new ManualClock();
  const store = useStore();
  let announcer: HeldAnnouncer;
  let settler: Settler;
  beforeEach(async () => {
    for (const name of ['messages', 'intents']) await store.db.collection(name).deleteMany({});
    announcer = new HeldAnnouncer();
    settler = new Settler({ db: store.db, announcer, lease: LEASE, epoch: 1, stream: 'receipts' });
  });

  const messages = () => store.db.collection<MessageDocument>('messages');
  const put = async (): Promise<MessageDocument> => {
    const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    const message = makeMessage({ state: 'submitting', claim, v: 1 });
    await messages().insertOne(message);
    return message;
  };
  const stateOf = async ({ _id }: MessageDocument) => (await messages().findOne({ _id }))?.state;
  const sent = ({ state, history }: MessageDocument): Change | undefined =>
    state === 'submitting' ? { state: 'sent', entries: [entryAt('sent', clock.now(), history)] } : undefined;
  const change = (message: MessageDocument) => settler.change([{ message, decide: sent }]);
  const nameOf = ({ _id }: MessageDocument) => `${_id} sent`;

  it('a group is changed before the events of the one before are stored; the third waits for them', async () => {
    const [first, second] = [await put(), await put()];
    await change(first);
    expect(settler.idle).to.equal(false);

    let done = false;
    const next = change(second).then(() => {
      done = true;
    });

    await eventually(async () => (await stateOf(second)) === 'sent', 'the second group is changed');
    expect([announcer.begun, announcer.told, done]).to.deep.equal([[nameOf(first)], [], false]);
    announcer.let();
    await next;
    await begun(2);
    expect(announcer.begun).to.deep.equal([nameOf(first), nameOf(second)]);
    announcer.let();
    await settler.finishFollowUps();
    expect([announcer.told, settler.idle]).to.deep.equal([[nameOf(first), nameOf(second)], true]);
  });

  it('a holder that dies then: the next one announces both groups', async () => {
    const [first, second] = [await put(), await put()];
    await change(first);
    const next = change(second);
    await eventually(async () => (await stateOf(second)) === 'sent', 'the second group is changed');
    expect(await readIntents(store.db, LEASE)).to.have.members([first._id, second._id]);
    const told: string[] = [];

    await redoIntents(
      store.db,
      { announce: async (all) => void told.push(...all.map((one) => ('message' in one ? one.message._id : ''))) },
      LEASE,
      2,
    );

    expect(told).to.have.members([first._id, second._id]);
    announcer.let();
    await next;
    await begun(2);
    announcer.let();
    await settler.finishFollowUps();
  });

  it('what fails is repeated alone, before the events of the next group, and a third is not changed before', async () => {
    const [first, second, third] = [await put(), await put(), await put()];
    await change(first);
    const next = change(second);
    await eventually(async () => (await stateOf(second)) === 'sent', 'the second group is changed');
    announcer.fail();
    await next;
    await failing(settler.finishFollowUps(), 2);

    await failing(change(third), 3);

    expect(await stateOf(third)).to.equal('submitting');
    expect(announcer.begun).to.deep.equal([first, first, first].map(nameOf));
    const last = change(third);
    await eventually(() => announcer.begun.length === 4, 'it is tried again');
    expect(await readIntents(store.db, LEASE)).to.have.members([first._id, second._id]);
    announcer.let();
    await eventually(() => announcer.begun.length === 5, 'the second follows');
    announcer.let();
    await last;
    await begun(6);
    announcer.let();
    await settler.finishFollowUps();
    expect(announcer.told).to.deep.equal([first, second, third].map(nameOf));
  });

  const begun = (events: number) => eventually(() => announcer.begun.length === events, 'it is announced');

  /** Fails the announcements once `events` have begun, and waits until that is reported. */
  async function failing(work: Promise<unknown>, events: number): Promise<void> {
    const told = work.catch((error: Error) => error.message);
    await eventually(() => announcer.begun.length === events, 'it is announced');
    announcer.fail();
    expect(await told).to.equal('the store is away');
  }
});
