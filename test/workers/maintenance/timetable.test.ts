import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LogFields } from '../../../shared/platform/runtime/log.ts';
import { Timetable } from '../../../workers/maintenance/start.ts';
import { builtProduct } from '../../support/built.ts';
import { eventually } from '../../support/eventually.ts';
import { silentLog } from '../../support/silent-log.ts';
import { useStore } from '../../support/store.ts';

/** Blocks the whole process until then, as if it were suspended. */
function blockUntil(wallMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wallMs - Date.now());
}

describe('maintenance timetable', () => {
  const timetables: Timetable[] = [];
  const lines: { readonly event: string; readonly fields: LogFields | undefined }[] = [];
  const note = (event: string, fields?: LogFields): number => lines.push({ event, fields });
  const makeTimetable = (): Timetable => {
    const timetable = new Timetable({ ...silentLog, debug: note, info: note, warn: note, error: note });
    timetables.push(timetable);
    return timetable;
  };
  /** The cron pattern of a second that begins in 1.3 to 2.3 s, and its time. */
  const soon = (): { readonly pattern: string; readonly atMs: number } => {
    const at = new Date(Math.ceil((Date.now() + 1_300) / 1_000) * 1_000);
    return { pattern: `${at.getSeconds()} ${at.getMinutes()} * * * *`, atMs: at.getTime() };
  };
  afterEach(() => {
    for (const timetable of timetables.splice(0)) timetable.stop();
    lines.length = 0;
  });

  it('a turn that was slept through is done at the awakening, not an hour later', async () => {
    const { pattern, atMs } = soon();
    let turns = 0;
    makeTimetable().at('prune', pattern, async () => {
      turns += 1;
    });

    blockUntil(atMs + 2_500);

    await eventually(() => turns === 1, 'the late turn');
    expect(lines).to.deep.equal([]);
  });

  it('turns that a later one has replaced are one line of the log', async () => {
    let turns = 0;
    makeTimetable().at('prune', '* * * * * *', async () => {
      turns += 1;
    });
    await eventually(() => turns > 0, 'the first turn');
    lines.length = 0; // From when the machine stood still before.

    const beganMs = Date.now();
    blockUntil(beganMs + 3_000);

    const missed = await eventually(() => lines.find(({ event }) => event === 'turns_missed'), 'its line');
    expect(missed?.fields).to.have.property('duty', 'prune');
    expect(missed?.fields?.turns).to.be.within(2, Math.floor((Date.now() - beganMs) / 1_000)); // one a second
    expect(lines).to.have.length(1);
  });

  it('a turn during which the next one came is not doubled, and that is worth a line for debugging only', async () => {
    let begun = 0;
    let end = (): void => {};
    makeTimetable().at('prune', '* * * * * *', () => {
      begun += 1;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });

    const skipped = () => lines.filter(({ event }) => event === 'turn_skipped').length;
    await eventually(() => skipped() > 1, 'two turns that came too early');
    expect(begun).to.equal(1);
    // A machine that stalls for a second misses turns too.
    expect(lines.filter(({ event }) => !['turn_skipped', 'turns_missed'].includes(event))).to.deep.equal([]);
    end();
    await eventually(() => begun === 2, 'the turn after it');
    end();
  });

  it('what is done every so often waits for its own end', async () => {
    let running = 0;
    let turns = 0;
    makeTimetable().every(0.01, async () => {
      running += 1;
      expect(running).to.equal(1);
      await new Promise((resolve) => setTimeout(resolve, 15));
      running -= 1;
      turns += 1;
    });

    await eventually(() => turns === 5, 'five turns');
  });

  it('no turn begins after the stop', async () => {
    let ended = 0;
    let others = 0;
    const timetable = makeTimetable();
    timetable.every(0.01, async () => {
      ended += 1;
      timetable.stop();
    });
    timetable.every(0.05, async () => {
      ended += 1;
    });
    makeTimetable().every(0.05, async () => {
      others += 1;
    });

    await eventually(() => others === 3, 'turns of another timetable');
    expect(ended).to.equal(1);
  });
});

describe('the maintenance process', () => {
  const store = useStore();
  let child: ChildProcess | undefined;
  after(async () => {
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  it('writes nothing into its error log when it was suspended', async () => {
    const env = {
      ...process.env,
      HARKARA_MONGODB_URI: store.uri,
      HARKARA_MONGODB_DATABASE: store.db.databaseName,
      HARKARA_LOG_LEVEL: 'info',
    };
    const worker = spawn(process.execPath, [join(await builtProduct(), 'workers/background/main.js')], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env,
    });
    child = worker;
    let errors = '';
    worker.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    await once(worker, 'message');
    const lease = async (): Promise<string> =>
      JSON.stringify(await store.db.collection('leases').findOne({ _id: 'maintenance' as never }));

    worker.kill('SIGSTOP');
    const asleep = await lease();
    const awakeMs = Date.now() + 5_000;
    await eventually(() => Date.now() >= awakeMs, 'the end of the night');
    worker.kill('SIGCONT');

    await eventually(async () => (await lease()) !== asleep, 'the lease to be renewed');
    worker.kill('SIGINT');
    await once(worker, 'close');
    expect(errors).to.equal('');
    expect(worker.exitCode).to.equal(0);
  });
});
