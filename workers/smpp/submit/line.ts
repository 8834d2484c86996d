import type { Bind } from '../session/bind.ts';
import type { Window } from '../session/window.ts';
import type { Segment } from './submission.ts';

/** One of a carrier's binds with its send window. */
export interface Line {
  readonly bind: Bind<Segment>;
  readonly window: Window<Segment>;
}
