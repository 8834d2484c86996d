import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { DEFAULT_PROMOTIONAL_HOURS } from '../../../../shared/messages/document/routing.ts';
import { ClaimGates } from '../../../../shared/messages/queue/claim-gates.ts';
import { pauseAccount, setAccountStatus } from '../../../../shared/money/accounts/store.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplate, setTemplatePaused } from '../../../../shared/templates/sms/store.ts';
import { Claimer } from '../../../../workers/smpp/claim/claim.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { ClaimWorld, ids, room, type TestClaimer } from '../../../support/claim-world.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { use } from '../../../support/use.ts';

describe('Claimer at its gates', () => {
  const world = use(() => ClaimWorld.open());
  beforeEach(async () => {
    await world.clear();
  });

  const GATES_MS = 2_000;
  /** Claims for long enough that read-aheads and empty lanes are read again. */
  async function claimAll(worker: TestClaimer, count: number): Promise<MessageDocument[]> {
    const claimed: MessageDocument[] = [];
    for (let round = 0; round < 10; round++) {
      claimed.push(...(await worker.claim(room(count))));
      world.clock.turn(100);
    }
    return claimed;
  }

  for (const [what, hold] of [
    ['suspended', (id: AccountId) => setAccountStatus(world.store.db, id, 'suspended')],
    ['paused', (id: AccountId) => pauseAccount(world.store.db, id)],
  ] as const) {
    it(`what a ${what} account has waiting waits, unchanged, and leaves when it is resumed`, async () => {
      const [held, other] = [await makeAccount(world.store.db, 0), await makeAccount(world.store.db, 0)];
      const waiting = await world.put(30, { account: held });
      const free = await world.put(30, { account: other });
      await hold(held);
      const worker = world.claimer();

      expect(ids(await claimAll(worker, 20))).to.have.members(ids(free));
      expect(await world.queue.countDocuments({ account: held, next: 0, open: true })).to.equal(1);
      expect(await world.messages.countDocuments({ account: held })).to.equal(0);

      await setAccountStatus(world.store.db, held, 'active');
      world.clock.turn(GATES_MS);
      expect(ids(await claimAll(worker, 20))).to.have.members(ids(waiting));
    });
  }

  it('a pause is seen by a worker that is claiming, 2 seconds later', async () => {
    const account = await makeAccount(world.store.db, 0);
    await world.put(40, { account });
    const worker = world.claimer();
    expect(await worker.claim(room(10))).to.have.length(10);

    await pauseAccount(world.store.db, account);
    world.clock.turn(GATES_MS);

    expect(await claimAll(worker, 10)).to.deep.equal([]);
    await setAccountStatus(world.store.db, account, 'active');
  });

  it('many held accounts with backlogs stand before nobody, in any lane', async () => {
    const held = await Promise.all(Array.from({ length: 25 }, () => makeAccount(world.store.db, 0)));
    const other = await makeAccount(world.store.db, 0);
    for (const account of held) {
      await world.put(20, { account });
      await world.put(5, { account, lane: 0 });
      await pauseAccount(world.store.db, account);
    }
    const free = [...(await world.put(5, { account: other })), ...(await world.put(5, { account: other, lane: 2 }))];

    expect(ids(await claimAll(world.claimer(), 10))).to.have.members(ids(free));
    for (const account of held) await setAccountStatus(world.store.db, account, 'active');
  });

  describe('a paused template', () => {
    const PAUSED = '1107160000000000001';
    const FREE = '1107160000000000002';
    async function withTemplate(): Promise<AccountId> {
      const account = await makeAccount(world.store.db, 0);
      await createTemplate(world.store.db, world.clock, account, makeTemplate({ dltId: PAUSED }));
      await setTemplatePaused(world.store.db, account, PAUSED, true);
      return account;
    }

    it('holds its messages, unchanged, and no others, until it is resumed', async () => {
      const account = await withTemplate();
      const other = await makeAccount(world.store.db, 0);
      const waiting = await world.put(40, { account, template: PAUSED });
      const free = [
        ...(await world.put(12, { account, template: FREE })),
        ...(await world.put(3, { account })),
        ...(await world.put(12, { account: other, template: PAUSED })),
      ];
      const worker = world.claimer();

      expect(ids(await claimAll(worker, 5))).to.have.members(ids(free));
      expect(await world.queue.countDocuments({ account, template: PAUSED, next: 0, open: true })).to.equal(1);

      await setTemplatePaused(world.store.db, account, PAUSED, false);
      world.clock.turn(GATES_MS);
      expect(ids(await claimAll(worker, 20))).to.have.members(ids(waiting));
    });

    it('lets go what comes behind a backlog of it', async () => {
      const account = await withTemplate();
      await world.put(60, { account, template: PAUSED });
      const worker = world.claimer();
      expect(await claimAll(worker, 5)).to.deep.equal([]);

      const late = await world.put(2, { account, template: FREE });

      expect(ids(await claimAll(worker, 5))).to.have.members(ids(late));
      await setTemplatePaused(world.store.db, account, PAUSED, false);
    });
  });

  it('promotional messages under DLT leave within their hours only, everything else at any time', async () => {
    // 10:00 to 21:00 in India is 04:30 to 15:30 UTC.
    const day = new ManualClock(new Date('2026-11-21T15:29:59Z'));
    const gates = new ClaimGates({ db: world.store.db, clock: day, hours: DEFAULT_PROMOTIONAL_HOURS });
    const from = { paths: ['promotional', 'transactional'], fromLane: 0 };
    const held = (): boolean => true;
    const worker = new Claimer({ db: world.store.db, clock: day, carrier: 'c', epoch: 7, gates, held });
    const validUntil = new Date('2026-11-25T00:00:00Z');
    const putIn = (lane: number) =>
      world.put(2, { path: lane > 2 ? 'promotional' : 'transactional', lane, validUntil });
    const claim = async (): Promise<number[]> => {
      const lanes: number[] = [];
      for (let round = 0; round < 4; round++) {
        lanes.push(...(await worker.claim(room(3), from)).map(({ lane }) => lane));
        day.turn(100);
      }
      return lanes.sort();
    };

    for (const lane of [0, 3, 4]) await putIn(lane);
    expect(await claim()).to.deep.equal([0, 0, 3, 3, 4, 4]);

    day.turn(1_000); // 21:00
    for (const lane of [0, 3, 4]) await putIn(lane);
    expect(await claim()).to.deep.equal([0, 0, 3, 3]);

    day.turn(13 * 3_600_000); // 10:00
    expect(await claim()).to.deep.equal([4, 4]);
  });
});
