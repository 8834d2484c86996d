import '../../gateway/main.ts';

/**
 * A gateway process that tells, whenever it is sent a message, how many milliseconds its event loop was held at most since the
 * message before. What counts is the time in which the process worked: on a busy machine it waits for the processor, too.
 */
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
    process.send?.(heldMs);
    heldMs = 0;
  }, 5);
});
