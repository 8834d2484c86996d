import { phoneMessage } from '../../../../scripts/simulator/smsc/mailboxes.ts';
import { phoneParts } from '../../../../scripts/simulator/smsc/phone-text.ts';
import { CARRIER_DEFAULTS } from '../../../../shared/carriers/carrier.ts';
import { STATUS } from '../../../../shared/carriers/command-status.ts';
import { addNumber } from '../../../../shared/carriers/numbers/store.ts';
import { createAnnouncer } from '../../../../shared/events/webhooks/announce.ts';
import type { InboundSmsDocument } from '../../../../shared/messages/document/any-message.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { InboundAnnouncer } from '../../../../workers/smpp/inbound/announce-inbound.ts';
import { Inbound } from '../../../../workers/smpp/inbound/inbound.ts';
import { createSmppMetrics } from '../../../../workers/smpp/monitoring/metrics.ts';
import { eventually } from '../../../support/eventually.ts';
import { latch } from '../../../support/latch.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { answered, eachRefused, foreign, held, refused } from '../../../support/mongo-wire/faults.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { NUMBER, PHONE } from './world.ts';

const PARTS_MS = 600_000;
/** A message with a refused part is given up this long after its time. */
const MORE_MS = 60_000;
const INSERT = { command: 'insert', collection: 'inbound' } as const;

describe('smpp worker: a part that is refused while the store is away', () => {
  const site = withCutStore();
  let clock: ManualClock;
  let inbound: Inbound;
  let session: { open: boolean; heardMs: number };
  let sequence = 0;
  beforeEach(async () => {
    const { db } = site.cut;
    await site.store.db.dropDatabase();
    clock = new ManualClock();
    session = { open: true, heardMs: clock.monotonicMs() };
    await addNumber(db, clock, { number: NUMBER, keyword: '', account: await makeAccount(db, 0) });
    const announcer = createAnnouncer({ db, clock });
    inbound = new Inbound({
      ...{ db, clock, log: silentLog, metrics: createSmppMetrics(new Metrics()) },
      carrier: {
        ...CARRIER_DEFAULTS,
        ...{ _id: 'c', name: 'C', host: '127.0.0.1', port: 1, systemId: 'x', password: '', createdAt: clock.now() },
      },
      inboundAnnouncer: new InboundAnnouncer({ db, clock, announcer, unassignedDays: 1, withDueAnswers: new Set() }),
      rules: { partsMs: PARTS_MS, refuseUnassigned: false },
      held: () => true,
      slowDown: () => {},
    });
  });

  const texts = ['a'.repeat(153), 'b'.repeat(10)];
  const parts = phoneParts({ from: PHONE, to: NUMBER, text: texts.join(''), reference: 7 }).map(phoneMessage);
  const send = (number: number): Promise<number> =>
    new Promise((answer) => {
      const part = parts[number - 1];
      if (part === undefined) throw new Error(`there is no part ${number}`);
      sequence += 1;
      void inbound.take({ ...part, body: part.userData }, answer, { session, sequence });
    });
  const repeat = (): Promise<void> => {
    session.heardMs = clock.monotonicMs();
    return inbound.repeat();
  };
  const received = async () => {
    const messages = site.store.db.collection<InboundSmsDocument>('messages');
    return (await messages.find().sort({ _id: 1 }).toArray()).map((message) => message.inbound);
  };
  const announced = (number: number) => ({
    ...{ type: 'text', body: texts[number - 1] },
    more: { missing_parts: [3 - number], total_parts: 2 },
  });

  for (const first of [1, 2]) {
    const second = 3 - first;
    for (const late of [first, second]) {
      it(`parts ${first}, ${second}; ${late} again when the message is announced without it: announced on its own`, async () => {
        for (const number of [first, second]) {
          if (number === late) site.proxy.inject({ ...INSERT, happens: refused('NotWritablePrimary') });
          expect(await send(number)).to.equal(number === late ? STATUS.queueFull : STATUS.ok);
        }
        clock.turn(PARTS_MS + MORE_MS);
        await repeat();
        expect(await received()).to.deep.equal([announced(3 - late)]);

        expect(await send(late)).to.equal(STATUS.ok);
        clock.turn(PARTS_MS);
        await repeat();

        expect(await received()).to.have.deep.members([announced(1), announced(2)]);
        expect(await site.store.db.collection('inbound').countDocuments()).to.equal(0);
      });
    }
  }

  for (const code of [1, 50_463_173, undefined, 13]) {
    it(`or answers with ${code ?? 'no code'}: every message is announced once it works again, and once`, async () => {
      const faults = [answered(foreign(code)), ...(code === undefined ? [] : [eachRefused(code)])];
      for (const happens of faults) {
        site.proxy.inject({ ...INSERT, happens });
        expect(await send(1)).to.equal(STATUS.queueFull);
      }
      expect(await send(1)).to.equal(STATUS.ok);
      expect(await send(2)).to.equal(STATUS.ok);

      expect(await received()).to.deep.equal([{ type: 'text', body: texts.join('') }]);
    });
  }

  it('and that comes again just before the message is given up: it is announced with its message', async () => {
    expect(await send(1)).to.equal(STATUS.ok);
    site.proxy.inject({ ...INSERT, happens: refused('NotWritablePrimary') });
    expect(await send(2)).to.equal(STATUS.queueFull);
    clock.turn(PARTS_MS + MORE_MS);
    const stored = latch();
    const inserting = site.proxy.inject({ ...INSERT, happens: held(stored.opened) });
    const answered = send(2);
    await eventually(() => inserting.met > 0, 'it is being stored');
    await repeat();

    stored.open();

    expect(await answered).to.equal(STATUS.ok);
    expect(await received()).to.deep.equal([{ type: 'text', body: texts.join('') }]);
  });
});
