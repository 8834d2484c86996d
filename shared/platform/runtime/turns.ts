import { systemClock } from './clock.ts';

/**
 * Long work is done in pieces, over all requests of a process together: in one turn of the event loop for `TURN_MS` at most, then
 * the loop looks after everything else. If each request had a time of its own, a hundred of them would hold the loop a hundred
 * times as long. The limit is a time, not a number of entries: one entry of 64 KB takes as long as hundreds of small ones.
 */
const TURN_MS = 2;

const waiting: (() => void)[] = [];
/** Whether long work was done in this turn. The turn ends at `untilMs`, for all. */
let running = false;
let untilMs = 0;

/** Whether the time for long work in this turn of the event loop is over: `if (turnOver()) await nextTurn()`. */
export function turnOver(): boolean {
  const nowMs = systemClock.monotonicMs();
  if (!running) begin(nowMs);
  return nowMs >= untilMs;
}

/** Resolves in a later turn of the event loop, which no other work has then. Who waits longest is next. */
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
