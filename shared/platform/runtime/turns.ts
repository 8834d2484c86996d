import { systemClock } from './clock.ts';

/**
 * Long work is done in pieces, for all requests of a process together: at most `TURN_MS` in one turn of the event loop,
 * then the loop does everything else. With a share per request, a hundred requests would hold the loop a hundred times
 * as long. A time, not a number of entries: one entry of 64 KB takes as long as hundreds of small ones.
 */
const TURN_MS = 2;

const waiting: (() => void)[] = [];
/** Long work was done in this turn, which ends at `untilMs`, for all. */
let running = false;
let untilMs = 0;

/** Whether the time for long work in this turn of the event loop is over: `if (turnOver()) await nextTurn()`. */
export function turnOver(): boolean {
  const nowMs = systemClock.monotonicMs();
  if (!running) begin(nowMs);
  return nowMs >= untilMs;
}

/** Resolves in a later turn of the event loop, which no other long work has then. The longest waiting is next. */
export function nextTurn(): Promise<void> {
  if (!running) begin(systemClock.monotonicMs());
  return new Promise((resolve) => waiting.push(resolve));
}

function begin(nowMs: number): void {
  running = true;
  untilMs = nowMs + TURN_MS;
  setImmediate(turn);
}

function turn(): void {
  running = false;
  const next = waiting.shift();
  if (next === undefined) return;
  begin(systemClock.monotonicMs());
  next();
}

/** Calls `look` for each entry, with pauses in which the event loop does other work. */
export async function inSlices<T>(entries: readonly T[], look: (entry: T, index: number) => void): Promise<void> {
  for (const [index, entry] of entries.entries()) {
    if (turnOver()) await nextTurn();
    look(entry, index);
  }
}
