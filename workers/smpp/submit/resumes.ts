import { THROTTLES_PER_TRY } from '../../../shared/settlement/submit-outcome.ts';
import type { BindSubmitter } from './bind-submitter.ts';
import type { Verdict } from './outcome.ts';
import type { Segment, Submission } from './submission.ts';

/** Some segments of a message were accepted, and the rest may still be. */
export type Resume = Extract<Verdict, { readonly kind: 'resume' }>;

const FIRST_PAUSE_MS = 1_000;
/** The rest waits for its bind to come back: it is looked so often, and so many times. */
const REBOUND_LOOK_MS = 500;
const REBOUND_LOOKS = 120;

/** Sends the rest of partly accepted messages again: on the same bind, once it is bound again if it was lost, with the same reference. */
export class Resumes {
  /** Pauses, and what ends each of them without sending. */
  readonly #pauses = new Map<NodeJS.Timeout, () => void>();
  #closed = false;

  get waiting(): boolean {
    return this.#pauses.size > 0;
  }

  /** Ends all pauses: nothing more will be sent. */
  close(): void {
    this.#closed = true;
    for (const [timer, giveUp] of this.#pauses) {
      clearTimeout(timer);
      giveUp();
    }
    this.#pauses.clear();
  }

  /** `giveUp` is called instead when the bind does not come back, or at the end. */
  add(
    submitter: BindSubmitter<Segment>,
    submission: Submission,
    { segments, throttled }: Resume,
    giveUp: () => void,
  ): void {
    const rest = segments.flatMap((index) => submission.segments[index] ?? []);
    if (throttled) submission.throttles += 1;
    if (!throttled || submission.throttles % THROTTLES_PER_TRY === 0) submission.resumed += 1;
    // After throttling the rate itself makes it wait.
    const pauseMs = throttled ? 1 : FIRST_PAUSE_MS * 2 ** (submission.resumed - 1);
    const goOn = (looks: number): void => {
      if (submitter.bound) {
        for (const { index } of rest) submission.answers[index] = undefined;
        submitter.add(rest);
      } else if (looks < REBOUND_LOOKS) {
        this.#later(REBOUND_LOOK_MS, () => goOn(looks + 1), giveUp);
      } else {
        giveUp();
      }
    };
    this.#later(pauseMs, () => goOn(0), giveUp);
  }

  #later(pauseMs: number, goOn: () => void, giveUp: () => void): void {
    if (this.#closed) {
      giveUp();
      return;
    }
    const timer = setTimeout(() => {
      this.#pauses.delete(timer);
      goOn();
    }, pauseMs);
    this.#pauses.set(timer, giveUp);
  }
}
