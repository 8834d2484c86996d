import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { latch } from '../../support/latch.ts';
import { openWorld, QUICK, type World } from '../../support/smpp-world.ts';

/** By its holder's clock, a lease of this length runs out 3 s earlier. */
const LEASE_TTL_MS = 8_000;
const EACH = 8;

interface LeaseDocument {
  readonly _id: string;
  readonly epoch: number;
  readonly until: Date;
}

describe('smpp worker: the store is away for longer than the lease', () => {
  let world: World;
  let ids: { readonly accepted: MessageId[]; readonly refused: MessageId[]; readonly busy: MessageId[] };
  const all = (of: readonly MessageId[]): Promise<MessageDocument[]> => Promise.all(of.map((id) => world.message(id)));
  const lease = () => world.db.collection<LeaseDocument>('leases').findOne({ _id: 'carrier:sim' });
  const numbers = (ending: string) =>
    Array.from({ length: EACH }, (_, i) => ({ to: `9198765${String(i).padStart(2, '0')}${ending}` }));

  before(async () => {
    const answers = latch();
    world = await openWorld({
      leaseTtlMs: LEASE_TTL_MS,
      carrier: { ...QUICK, responseTimeoutMs: 120_000, windowSize: 4 * EACH, unknownWaitMs: 30_000 },
      smsc: {
        behaviour: ({ to }) => {
          if (to.endsWith('200')) return { answerWhen: answers.opened, status: 0x0b };
          if (to.endsWith('300')) return { answerWhen: answers.opened, status: 0x14 };
          return { answerWhen: answers.opened };
        },
      },
    });
    world.anotherWorker({ machine: 'other@boot', pid: 7, startedAt: '1' });
    await eventually(() => world.smsc.stats().binds === 1, 'it is bound');
    ids = {
      accepted: await world.sendMany(numbers('100')),
      refused: await world.sendMany(numbers('200')),
      busy: await world.sendMany(numbers('300')),
    };
    await eventually(() => world.smsc.stats().peakUnanswered === 3 * EACH, 'all are submitted');
    world.proxy.become('down');
    answers.open();
    await eventually(async () => ((await lease())?.until ?? new Date()) < new Date(), 'the lease has run out');
    world.proxy.become('well');
  });
  after(() => world.close());

  it('what the carrier answered meanwhile is settled as it was answered', async () => {
    await world.allReach(ids.refused, 'rejected');
    await world.allReach(ids.accepted, 'delivered');
    await world.allReach(ids.busy, 'waiting');

    expect((await all(ids.refused)).map(({ errorCode }) => errorCode)).to.deep.equal(Array(EACH).fill('0x0B'));
    expect((await all(ids.busy)).map(({ tries }) => tries)).to.deep.equal(Array(EACH).fill(1));
  });

  it('its holder has renewed it before anybody else took it, and nothing was sent twice', async () => {
    expect(await lease()).to.include({ epoch: 1 });
    expect(world.smsc.messages()).to.have.lengthOf(EACH);
  });
});
