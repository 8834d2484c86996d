import { signal } from '@preact/signals';

const EVERY_MS = 20_000;

/** Ticks by itself and so updates what shows relative times. */
const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, EVERY_MS);

/** Renders the caller again when `now` ticks. `now` lags by up to 20 s: recent events would lie in its future. */
export function exactNow(): number {
  return Math.max(now.value, Date.now());
}
