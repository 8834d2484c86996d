import { THROTTLES_PER_TRY } from '../../../shared/messages/settlement/submit-outcome.ts';
import type { BindSubmitter } from './bind-submitter.ts';
import type { Verdict } from './outcome.ts';
import type { Segment, Submission } from './submission.ts';

/** The verdict on a message of which some segments were accepted and the others still may be. */
export type Resume = Extract<Verdict, { readonly kind: 'resume' }>;

const FIRST_PAUSE_MS = 1_000;
/** While the remaining segments wait for their bind to come back: how often, and how many times, to look at it. */
const REBOUND_LOOK_MS = 500;
const REBOUND_LOOKS = 120;

/**
 * Sends the remaining segments of partly accepted messages again, with the same reference and on the same bind. If the bind was
 * lost, it waits until it is bound again.
 */
export class Resumes {
  /** The pauses in progress. Each has a function that gives up the message without sending. */
  readonly #pauses = new Map<NodeJS.Timeout, () => void>();
  #closed = false;

  get waiting(): boolean {
    return this.#pauses.size > 0;
  }

  /** Ends all pauses. Nothing more will be sent. */
  close(): void {
    this.#closed = true;
    for (const [timer, giveUp] of this.#pauses) {
      clearTimeout(timer);
      giveUp();
    }
    this.#pauses.clear();
  }

  /** Sends the remaining segments after a pause. Calls `giveUp` instead if the bind does not come back, or after `close`. */
  add(
    submitter: BindSubmitter<Segment>,
    submission: Submission,
    { segments, throttled }: Resume,
    giveUp: () => void,
  ): void {
    const rest = segments.flatMap((index) => submission.segments[index] ?? []);
    if (throttled) submission.throttles += 1;
    if (!throttled || submission.throttles % THROTTLES_PER_TRY === 0) submission.resumed += 1;
    // After throttling, the rate limit itself causes the pause.
    const pauseMs = throttled ? 1 : FIRST_PAUSE_MS * 2 ** (submission.resumed - 1);
    const goOn = (looks: number): void => {
      if (submitter.takesSubmits) {
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
