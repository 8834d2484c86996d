import { signal } from '@preact/signals';

const EVERY_MS = 20_000;

/** The time that relative times are reckoned from. It moves on by itself, and with it what is shown. */
const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, EVERY_MS);

/**
 * The time now. `now` alone is up to 20 s behind: by it, what has just happened would lie in the future. A component that calls this
 * is drawn again when `now` moves on.
 */
export function exactNow(): number {
  return Math.max(now.value, Date.now());
}
