import '../../gateway/main.ts';

/**
 * A gateway process that answers each message with the longest hold of its event loop since the last one, in
 * milliseconds. Only time in which it worked counts, not waits for the processor.
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
  // The current hold is known when the loop comes round.
  setTimeout(() => {
    process.send?.(heldMs);
    heldMs = 0;
  }, 5);
});
