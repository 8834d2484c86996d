import type { Fleet } from '../bench/fleet.ts';
import type { ChaosOptions } from './options.ts';
import type { Random } from './random.ts';
import type { OtherStore } from './stage.ts';

export interface FaultLog {
  /** How often each app was killed. */
  readonly kills: ReadonlyMap<string, number>;
  readonly pauses: ReadonlyMap<string, number>;
}

/** Time until the next look when nothing that a fault may hit is alive. The fleet starts the processes again. */
const PATIENCE_MS = 50;
/** The name of a store that is not the embedded one (`OtherStore`), in the counts and in what is printed. */
const OTHER = 'the store';
/**
 * One of this many faults kills that store. Chosen by chance alone, it would die too rarely: it is one process among many, and the
 * one that matters most.
 */
const OTHER_EVERY = 4;

/**
 * Kills and pauses processes, chosen by the seed, until all faults are done or `stop` returns true. A paused process is continued
 * after its time; it may be killed before that, because it is chosen like any other. A store that is not the embedded one is
 * killed first, and again after every `OTHER_EVERY` faults.
 */
export async function causeFaults(
  fleet: Pick<Fleet, 'pids'>,
  options: ChaosOptions,
  random: Random,
  stop: () => boolean,
  say: (line: string) => void,
  other?: OtherStore,
): Promise<FaultLog> {
  const restarts: Promise<void>[] = [];
  const kills = new Map<string, number>();
  const pauses = new Map<string, number>();
  const waking: Promise<void>[] = [];
  const pauseAt = new Set(
    Array.from({ length: options.pauses }, (_, i) => Math.floor(((i + 0.5) * options.kills) / options.pauses)),
  );
  let done = 0;
  while (done < options.kills && !stop()) {
    await wait(options.everyMs * (0.5 + random.next()));
    const living: { readonly app: string; readonly pid: number }[] = fleet.pids();
    if (other?.pid !== undefined) living.push({ app: OTHER, pid: other.pid });
    // The store is not paused, because everything else would only wait for it.
    const pausable = living.filter((one) => one.app !== 'embedded-db' && one.app !== OTHER);
    if (living.length === 0 || (pauseAt.has(done) && pausable.length === 0)) {
      await wait(PATIENCE_MS);
      continue;
    }
    if (pauseAt.has(done)) {
      const { app, pid } = random.pick(pausable);
      say(`pause ${app} for ${options.pauseMs} ms`);
      count(pauses, app);
      signal(pid, 'SIGSTOP');
      waking.push(wait(options.pauseMs).then(() => signal(pid, 'SIGCONT')));
    }
    const due = done % OTHER_EVERY === 0 ? living.find((one) => one.app === OTHER) : undefined;
    const { app, pid } = due ?? random.pick(living);
    say(`kill ${app}`);
    count(kills, app);
    if (app === OTHER && other !== undefined) restarts.push(other.kill());
    else signal(pid, 'SIGKILL');
    done++;
  }
  await Promise.all([...waking, ...restarts]);
  return { kills, pauses };
}

/** A process that is gone needs no signal. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function count(counts: Map<string, number>, app: string): void {
  counts.set(app, (counts.get(app) ?? 0) + 1);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
