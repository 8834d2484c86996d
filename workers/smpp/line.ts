import type { Bind } from './bind.ts';
import type { Segment } from './submission.ts';
import type { Window } from './window.ts';

/** One of a carrier's binds with its send window. */
export interface Line {
  readonly bind: Bind<Segment>;
  readonly window: Window<Segment>;
}
