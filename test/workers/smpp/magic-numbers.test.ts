import { MAGIC_NUMBERS } from '../../../scripts/simulator/magic-numbers.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { requeue } from '../../../shared/messages/queue/queue-store.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, QUICK, type World } from '../../support/smpp-world.ts';
import { use } from '../../support/use.ts';

const THREE_SEGMENTS = 'three segments of plain text, '.repeat(14);

interface Expected {
  readonly ending: string;
  readonly text?: string;
  readonly states: readonly string[];
  readonly errorCode?: string;
}

/** The results for each of the simulator's magic numbers. */
const EXPECTED: readonly Expected[] = [
  { ending: '000', states: ['sent', 'delivered'] },
  { ending: '101', states: ['sent', 'failed'], errorCode: '001' },
  { ending: '102', states: ['sent', 'expired'], errorCode: '027' },
  { ending: '103', states: ['sent', 'rejected'], errorCode: '052' },
  { ending: '104', states: ['sent', 'delivered'] },
  { ending: '105', states: ['sent', 'delivered'] },
  { ending: '106', states: ['sent'] },
  { ending: '107', states: ['sent', 'delivered'] },
  { ending: '108', states: ['rejected'], errorCode: '0x0B' },
  { ending: '109', states: ['sent', 'delivered'] },
  { ending: '110', states: ['sent', 'delivered'] },
  { ending: '111', states: ['sent', 'delivered'] },
  { ending: '112', states: ['sent', 'delivered'] },
  { ending: '113', text: THREE_SEGMENTS, states: ['failed'], errorCode: 'partial' },
  { ending: '114', states: ['sent', 'failed'], errorCode: '633' },
  { ending: '115', states: ['sent', 'delivered'] },
  { ending: '116', states: ['sent', 'delivered'] },
  { ending: '117', states: ['sent', 'failed'], errorCode: '255' },
  { ending: '118', states: ['sent', 'delivered'] },
];

describe('smpp worker: every magic number of the simulator', () => {
  const world = use(() => openWorld({ carrier: QUICK }));

  it('the table here has every magic number', () => {
    expect(EXPECTED.map(({ ending }) => ending)).to.include.members(MAGIC_NUMBERS.map(({ ending }) => ending));
  });

  for (const { ending, text, states, errorCode } of EXPECTED) {
    const meaning = MAGIC_NUMBERS.find((magic) => magic.ending === ending)?.meaning ?? 'delivered';
    it(`…${ending} (${meaning}): ${states.join(', then ')}`, async () => {
      const id = await world.send({ to: `919876500${ending}`, text: text ?? `to ${ending}` });

      const message = await eventually(async () => {
        await dueNow(world, id);
        const found = await world.message(id);
        const reached = found.history.map(({ state }) => state);
        if (reached.length < states.length) throw new Error(`${found.state} ${reached} ${JSON.stringify(found.parts)}`);
        return found;
      }, `the message to …${ending} gets through ${states.length} states`);

      expect(message.history.map(({ state }) => state)).to.deep.equal(states);
      expect(message.errorCode).to.equal(errorCode);
      expect(message.outcome).to.equal(undefined);
    });
  }

  it('only what no carrier accepted was refunded', async () => {
    const account = await eventually(async () => {
      const found = await world.db.collection<AccountDocument>('accounts').findOne({});
      return found !== null && found.balance > 1_000_000 ? found : undefined;
    }, 'a refund');

    const ended = await world.db.collection<MessageDocument>('messages').find({ state: 'rejected' }).toArray();
    const refused = ended.filter((message) => message.history.length === 1);

    expect(refused.map((message) => message.to)).to.deep.equal(['919876500108']);
    expect(account?.balance).to.equal(1_000_001);
  });

  it('each receipt settled its message once, whatever came twice', async () => {
    const all = await world.db.collection<MessageDocument>('messages').find().toArray();

    for (const message of all) {
      const states = message.history.map(({ state }) => state);
      expect(new Set(states).size, message.to).to.equal(states.length);
    }
  });
});

/** Makes a waiting message due at once, as maintenance does at its time. */
async function dueNow(world: World, id: MessageId): Promise<void> {
  const due = await world.db
    .collection<MessageDocument>('messages')
    .findOneAndUpdate(
      { _id: id, state: 'waiting' },
      { $set: { state: 'queued' }, $inc: { v: 1 } },
      { returnDocument: 'after' },
    );
  await requeue(world.db, due === null ? [] : [due]);
}
