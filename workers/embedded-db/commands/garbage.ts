import { OK } from './reply.ts';
import { type Progress, Rest, Slice } from './slices.ts';
import type { Store } from './store.ts';

/** Keys that are removed at a time. */
const CHUNK = 500;

/** Removes as much as a slice allows of what was dropped. What is small goes with the command that drops it. */
export function removeGarbage(store: Store): Progress {
  const slice = new Slice(store);
  while (store.garbage.waits) {
    if (slice.over) return new Rest(() => removeGarbage(store));
    slice.looked(1 + store.garbage.remove(CHUNK));
  }
  return OK;
}
