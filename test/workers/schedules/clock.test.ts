import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { ScheduleWorker } from '../../../workers/schedules/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { scheduleWorld } from '../../support/schedule-world.ts';
import { makeBooking } from '../../support/schedules.ts';
import { silentLog } from '../../support/silent-log.ts';

const MINUTE_MS = 60_000;

describe('schedules worker: a clock that was ahead and is set back', () => {
  const world = scheduleWorld();
  const { schedules, book } = world;
  const alarms = () => world.store.db.collection('alarms');
  let worker: ScheduleWorker | undefined;
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock(new Date());
  });
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
    await alarms().deleteMany({});
  });

  const startWorker = async (): Promise<void> => {
    worker = new ScheduleWorker({ db: world.store.db, clock, log: silentLog, metrics: new Metrics() });
    await worker.start();
  };
  const inMinutes = (minutes: number): Date => new Date(clock.now().getTime() + minutes * MINUTE_MS);
  const stateOf = async ({ _id }: ReturnType<typeof makeBooking>) => (await schedules().findOne({ _id }))?.state;

  it('releases nothing of the time between', async () => {
    const account = await makeAccount(world.store.db, 3);
    const ahead = makeBooking(inMinutes(59));
    const [overdue, later] = [makeBooking(inMinutes(-1)), makeBooking(inMinutes(30))];
    clock.turn(60 * MINUTE_MS);
    await book(account, ahead);
    await startWorker();
    await eventually(async () => (await stateOf(ahead)) === 'sent', 'a round of the clock that is ahead');

    clock.turn(-60 * MINUTE_MS);
    await book(account, later, overdue);
    await eventually(async () => (await stateOf(overdue)) === 'sent', 'a round after it was set back');

    expect(await stateOf(later)).to.equal('scheduled');
  });

  it('releases nothing when an alarm rings that was set by the clock that was ahead', async () => {
    const account = await makeAccount(world.store.db, 1);
    const second = new Date(Math.floor(clock.now().getTime() / 1_000) * 1_000);
    const booking = makeBooking(second);
    await book(account, booking);
    await alarms().insertOne({ name: 'release', type: 'normal', data: { second }, nextRunAt: second });
    clock.turn(-60 * MINUTE_MS);

    await startWorker();
    await eventually(async () => (await alarms().countDocuments({})) === 0, 'it rang');

    expect(await stateOf(booking)).to.equal('scheduled');
  });
});
