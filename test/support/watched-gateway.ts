import '../../gateway/main.ts';

/** What a gateway process tells of the time since it was asked before. */
export interface Watched {
  /**
   * How many milliseconds its event loop was held at most. What counts is the time in which the process worked: on a busy machine it
   * waits for the processor, too.
   */
  readonly heldMs: number;
  /** How many milliseconds a fixed piece of work takes at this moment. */
  readonly yardstickMs: number;
}

let heldMs = 0;
let beforeMs = performance.now();
let before = process.cpuUsage();
setInterval(() => {
  const nowMs = performance.now();
  const now = process.cpuUsage();
  const workedMs = (now.user + now.system - before.user - before.system) / 1_000;
  heldMs = Math.max(heldMs, Math.min(nowMs - beforeMs, workedMs));
  beforeMs = nowMs;
  before = now;
}, 1);
process.on('message', () => {
  // The hold that is being measured is known when the loop comes round.
  setTimeout(() => {
    const watched: Watched = { heldMs, yardstickMs: yardstickMs() };
    process.send?.(watched);
    heldMs = 0;
    beforeMs = performance.now();
    before = process.cpuUsage();
  }, 5);
});

const WORK = JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({ to: `9198765${i}`, message: `Dear ${i}` })));

/** The shortest of some: another process may have had the processor in between. */
function yardstickMs(): number {
  const times = Array.from({ length: 5 }, () => {
    const beganMs = performance.now();
    JSON.parse(WORK);
    return performance.now() - beganMs;
  });
  return Math.min(...times);
}
