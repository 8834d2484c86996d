import { addNumber } from '../../../../shared/carriers/numbers/store.ts';
import { setWordSettings } from '../../../../shared/carriers/opt-outs/words.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { prefixOf } from '../../../../shared/messages/traffic/hold.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { type HelpRequest, limitHelp } from '../../../../workers/smpp/inbound/opt-outs.ts';
import { eventually } from '../../../support/eventually.ts';
import { CARRIER } from '../../../support/smpp-world.ts';
import { useStore } from '../../../support/store.ts';
import { type InboundWorld, inboundWorldPerTest, NUMBER, PHONE } from './world.ts';

const STOPPED = 'You get no more messages from Shop.';
const STARTED = 'Welcome back to Shop.';
const HELPED = 'Shop: orders and parcels. Call 1800 123 456. STOP ends it.';

describe('smpp worker: answers to STOP, START and HELP', () => {
  const open = inboundWorldPerTest();

  async function answering(): Promise<InboundWorld> {
    const here = await open();
    await setWordSettings(here.db, here.account, '*', {
      stopAnswer: { text: STOPPED },
      startAnswer: { text: STARTED },
      helpAnswer: { text: HELPED },
    });
    return here;
  }
  const sent = (here: InboundWorld) =>
    here.db
      .collection<MessageDocument>('messages')
      .find({ inReplyTo: { $exists: true } })
      .sort({ _id: 1 })
      .toArray();
  const answers = (here: InboundWorld, count: number) =>
    eventually(async () => {
      const found = (await sent(here)).filter(({ state }) => state === 'delivered');
      if (found.length !== count) throw new Error(`${found.length} of ${count}`);
      return found;
    }, `${count} answers are delivered`);
  const noneDue = (here: InboundWorld) =>
    eventually(
      async () => expect(await here.db.collection('opt_out_answers').countDocuments()).to.equal(0),
      'no answer is due',
    );
  const spent = async ({ db, account }: InboundWorld): Promise<number> => {
    const { problems, balance } = await verifyLedger(db, account);
    expect(problems).to.deep.equal([]);
    return 1_000_000 - balance;
  };

  it('confirms each change of state once, from the number that the customer wrote to', async () => {
    const here = await answering();
    for (const [index, text] of ['STOP', 'stop', 'START', 'start', 'end'].entries()) {
      here.says({ text });
      await here.received(index + 1);
    }

    const all = await answers(here, 3);

    expect(all.map(({ text, to, sender, route }) => [text, to, sender, route])).to.have.deep.members([
      [STOPPED, PHONE, NUMBER, 'transactional'],
      [STARTED, PHONE, NUMBER, 'transactional'],
      [STOPPED, PHONE, NUMBER, 'transactional'],
    ]);
    const [first] = await here.received(5);
    expect(all.map(({ inReplyTo }) => inReplyTo)).to.include(first?._id);
    expect(here.smsc.messages().map(({ from, to }) => [from, to])).to.deep.equal(Array(3).fill([NUMBER, PHONE]));
    await noneDue(here);
    expect(await spent(here)).to.equal(3);
  });

  it('HELP is answered whether the customer has opted out or not, once in five minutes for each word', async () => {
    const here = await answering();
    for (const [index, text] of ['help', 'HELP', 'STOP', 'Help!', 'info'].entries()) {
      here.says({ text });
      await here.received(index + 1);
    }

    const all = await answers(here, 3);

    expect(all.map(({ text }) => text)).to.have.members([HELPED, STOPPED, HELPED]);
    await noneDue(here);
  });

  it('no answer to short codes, names and numbers of ours, nor where the number has none', async () => {
    const here = await answering();
    const { db, account } = here;
    const [silent, ours] = ['919000000002', '919000000003'];
    for (const number of [silent, ours]) await addNumber(db, systemClock, { number, keyword: '', account });
    await setWordSettings(db, account, silent, { helpAnswer: null });
    here.says({ text: 'HELP', from: '56161' });
    here.says({ text: 'HELP', from: 'BANK' });
    here.says({ text: 'HELP', from: ours });
    here.says({ text: 'HELP', to: silent });
    await here.received(4);
    here.says({ text: 'HELP' });

    const [only] = await answers(here, 1);

    expect(only).to.include({ text: HELPED, to: PHONE, sender: NUMBER });
    await noneDue(here);
  });

  it('one that cannot be sent holds up no others', async () => {
    const here = await answering();
    const due = here.db.collection<{ _id: string; carrier: string; account: string }>('opt_out_answers');
    await due.insertOne({ _id: 'broken', carrier: CARRIER, account: here.account });
    here.says({ text: 'STOP' });
    await here.received(1);

    const [only] = await answers(here, 1);

    expect(only).to.include({ text: STOPPED, to: PHONE });
    await eventually(async () => expect(await due.countDocuments()).to.equal(1), 'only the broken one is due');
  });

  for (const [what, limits] of [
    ['outside the countries of the account', { countries: ['AE'] }],
    ['while the prefix is held', { brake: 'hold', heldPrefixes: [prefixOf(PHONE)] }],
  ] as const) {
    it(`there is none ${what}`, async () => {
      const here = await answering();
      await here.db.collection<AccountDocument>('accounts').updateOne({ _id: here.account }, { $set: limits });
      here.says({ text: 'HELP' });
      await here.received(1);
      await noneDue(here);

      expect(await spent(here)).to.equal(0);
    });
  }

  it('without credits there is none: the opt-out stands, and it is counted', async () => {
    const here = await answering();
    await here.db.collection<AccountDocument>('accounts').updateOne({ _id: here.account }, { $set: { balance: 0 } });
    here.says({ text: 'STOP' });
    const [stopped] = await here.received(1);
    await noneDue(here);

    // Counted once the store has answered.
    const values = await eventually(async () => {
      const counted = await here.metrics.registry.getSingleMetric('harkara_smpp_opt_out_answers_total')?.get();
      return counted !== undefined && counted.values.length > 0 ? counted.values : undefined;
    }, 'it is counted');

    expect(stopped?.history.map(({ state }) => state)).to.deep.equal(['received', 'opted_out']);
    expect(await sent(here)).to.deep.equal([]);
    expect(values?.map(({ labels, value }) => [labels.result, value])).to.deep.equal([['unpaid', 1]]);
  });
});

const T = Date.parse('2026-11-22T10:00:00Z');
const MINUTE = 60_000;

describe('how often HELP is answered', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(() => {
    account = newId('acc');
  });

  const asked = (minutes: number, more: Partial<HelpRequest> = {}): HelpRequest => ({
    ...{ _id: newId('msg'), account, from: '919876543210', to: '56767', word: 'help' },
    at: new Date(T + minutes * MINUTE),
    ...more,
  });
  const answered = async (requests: readonly HelpRequest[]): Promise<boolean[]> => {
    const found = await limitHelp(store.db, requests);
    return requests.map(({ _id }) => found.has(_id));
  };

  it('once in five minutes, also of one group; other words, numbers and customers count apart', async () => {
    const others = [{ word: 'info' }, { to: '56768' }, { from: '919876543211' }].map((more) => asked(1, more));

    const now = await answered([asked(0), asked(1), ...others]);
    const later = await answered([asked(4.9), asked(5.1)]);

    expect(now).to.deep.equal([true, false, true, true, true]);
    expect(later).to.deep.equal([false, true]);
  });

  it('five times a day', async () => {
    const day = await answered([0, 10, 20, 30, 40, 50, 60].map((minutes) => asked(minutes)));
    const next = await answered([asked(24 * 60 + 1), asked(24 * 60 + 7)]);

    expect(day).to.deep.equal([true, true, true, true, true, false, false]);
    expect(next).to.deep.equal([true, false]);
  });

  it('asked again after a crash, says the same', async () => {
    const requests = [asked(0), asked(1), asked(6)];
    const first = await answered(requests);

    expect(await answered(requests)).to.deep.equal(first);
    expect(first).to.deep.equal([true, false, true]);
  });
});
