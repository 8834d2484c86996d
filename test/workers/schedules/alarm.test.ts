import { Alarm } from '../../../workers/schedules/alarm.ts';
import { eventually } from '../../support/eventually.ts';
import { silentLog } from '../../support/silent-log.ts';
import { useStore } from '../../support/store.ts';

describe('schedules worker: alarm', () => {
  const store = useStore();
  let alarms: Alarm[];
  let rung: number[];
  beforeEach(() => {
    alarms = [];
    rung = [];
  });
  afterEach(async () => {
    for (const alarm of alarms) await alarm.stop();
    await jobs().deleteMany({});
  });

  const jobs = () => store.db.collection('alarms');
  const secondFromNow = (seconds: number): Date => new Date((Math.floor(Date.now() / 1_000) + seconds) * 1_000);

  async function startAlarm(ring = async (second: Date) => void rung.push(second.getTime())): Promise<Alarm> {
    const alarm = new Alarm({ db: store.db, log: silentLog, ring });
    alarms.push(alarm);
    await alarm.start();
    return alarm;
  }

  it('rings at a second once, whoever set it and however often, and leaves nothing behind', async () => {
    const [one, two] = [await startAlarm(), await startAlarm()];
    const [first, second] = [secondFromNow(5), secondFromNow(6)];

    await one.set(first);
    await two.set(first);
    await one.set(second);
    await eventually(() => rung.length >= 2, 'both rang');

    expect(rung).to.deep.equal([first.getTime(), second.getTime()]);
    await eventually(async () => (await jobs().countDocuments({})) === 0, 'the jobs are removed');
  });

  it('does not ring early', async () => {
    const at: number[] = [];
    const alarm = await startAlarm(async () => void at.push(Date.now()));
    const second = secondFromNow(2);

    await alarm.set(second);
    await eventually(() => at.length > 0, 'it rang');

    // A timer may be a millisecond early.
    expect(at[0]).to.be.at.least(second.getTime() - 1);
  });

  it('rings at a start what came while nobody ran', async () => {
    const absent = await startAlarm();
    await absent.stop();
    const second = secondFromNow(0);
    await absent.set(second);

    await startAlarm();

    await eventually(() => rung.includes(second.getTime()), 'it rang');
  });

  it('rings again elsewhere when its process died while it rang', async () => {
    const second = secondFromNow(-30);
    await jobs().insertOne({
      name: 'release',
      type: 'normal',
      data: { second },
      nextRunAt: second,
      lockedAt: new Date(Date.now() - 20_000),
    });

    await startAlarm();

    await eventually(() => rung.includes(second.getTime()), 'it rang');
  });

  it('ends within its limit while it rings, and rings no more', async () => {
    let finish = (): void => {};
    const busy = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const alarm = await startAlarm(async (second) => {
      rung.push(second.getTime());
      await busy;
    });
    await alarm.set(secondFromNow(0));
    await eventually(() => rung.length === 1, 'it rings');

    await alarm.stop();

    finish();
    expect(rung).to.have.length(1);
  });

  it('removes at a start what a killed process left finished, and nothing else', async () => {
    const later = secondFromNow(3_600);
    const finished = { name: 'release', type: 'normal', data: { second: secondFromNow(-60) }, nextRunAt: null };
    await jobs().insertMany([{ ...finished }, { ...finished, data: { second: later }, nextRunAt: later }]);

    await startAlarm();

    expect((await jobs().find({}).toArray()).map(({ nextRunAt }) => nextRunAt)).to.deep.equal([later]);
  });
});
