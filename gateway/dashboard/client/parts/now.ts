import { signal } from '@preact/signals';

const EVERY_MS = 20_000;

/** The time that relative times are reckoned from. It moves on by itself, and with it what is shown. */
const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, EVERY_MS);

/** The same, exactly: what happened since it moved last is not to come. */
export function exactNow(): number {
  return Math.max(now.value, Date.now());
}
