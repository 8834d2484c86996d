import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { statusClass } from '../../../shared/carriers/command-status.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { errorFields, type Log } from '../../../shared/runtime/log.ts';
import type { Throttle } from '../../../shared/runtime/throttle.ts';
import type { OutcomeSettler } from '../../../shared/settlement/settle-outcomes.ts';
import { type SubmitOutcome, THROTTLES_PER_TRY } from '../../../shared/settlement/submit-outcome.ts';
import type { Refusal } from '../claim/departures.ts';
import type { SmppMetrics } from '../session/metrics.ts';
import type { SubmitAnswer } from '../session/session.ts';
import type { LostSubmits } from '../session/unanswered-submits.ts';
import type { BindSubmitter } from './bind-submitter.ts';
import { type Verdict, verdictOf } from './outcome.ts';
import type { Segment, Submission } from './submission.ts';

export interface AnswersOptions {
  readonly carrier: CarrierDocument;
  readonly log: Log;
  readonly metrics: SmppMetrics;
  readonly outcomes: OutcomeSettler;
  readonly throttle: Throttle;
}

/** Tries of the rest of a partly accepted message; throttled ones count as little as those of whole messages. */
const MAX_RESUMES = 5;
const FIRST_RESUME_MS = 1_000;
/** The rest waits for its bind to come back, so often and so long. */
const REBOUND_LOOK_MS = 500;
const REBOUND_LOOKS = 120;

/** Collects what became of each segment, and hands the outcome of each message to be settled. */
export class Answers {
  readonly #options: AnswersOptions;
  /** Waits of messages that are to be resumed, and what ends them without. */
  readonly #resuming = new Map<NodeJS.Timeout, () => void>();
  #closed = false;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Whether partly accepted messages wait for their rest to be sent. */
  get resuming(): boolean {
    return this.#resuming.size > 0;
  }

  /** Ends the waits of messages that were to be resumed: their rest will not be sent. */
  close(): void {
    this.#closed = true;
    for (const [timer, giveUp] of this.#resuming) {
      clearTimeout(timer);
      giveUp();
    }
    this.#resuming.clear();
  }

  onAnswer(submitter: BindSubmitter<Segment>, segment: Segment, answer: SubmitAnswer): void {
    const { carrier, throttle, metrics } = this.#options;
    const meaning = statusClass(answer.status, carrier.statusClasses);
    metrics.answers.inc({ carrier: carrier._id, class: meaning });
    if (meaning === 'accepted') throttle.accepted();
    else if (meaning === 'throttled') throttle.throttled();
    const { submission, index, late } = segment;
    submission.answers[index] = { kind: 'answered', ...answer };
    if (meaning === 'rejected') this.#cancelRest(submitter, submission);
    if (!late) submitter.release();
    this.#conclude(submitter, submission);
    if (meaning === 'bind') submitter.recycle();
  }

  onTimeout(submitter: BindSubmitter<Segment>, segment: Segment): void {
    segment.late = true;
    segment.submission.answers[segment.index] = { kind: 'unknown' };
    submitter.release();
    this.#conclude(submitter, segment.submission);
  }

  onLost(submitter: BindSubmitter<Segment>, lost: LostSubmits<Segment>): void {
    const ended = new Set<Submission>();
    const end = (segments: readonly Segment[], kind: 'unknown' | 'unwritten'): void => {
      for (const { submission, index } of segments) {
        submission.answers[index] = { kind };
        ended.add(submission);
      }
    };
    end(lost.unanswered, 'unknown');
    end(lost.unwritten, 'unwritten');
    end(submitter.clear(), 'unwritten');
    for (const submission of ended) this.#conclude(submitter, submission);
  }

  /** It was not submitted, and may not be any more. */
  refuse(message: MessageDocument, { code, reason }: Refusal): void {
    this.#options.metrics.outcomes.inc({ carrier: this.#options.carrier._id, outcome: 'rejected' });
    this.#store(this.#options.outcomes.add(message, { kind: 'rejected', parts: [], code, reason }));
  }

  /** It was not submitted, and goes back to the queue. */
  requeue(message: MessageDocument): void {
    this.#store(this.#options.outcomes.add(message, { kind: 'requeue' }));
  }

  /** The same, when its segments had been made. */
  withdraw(submission: Submission): void {
    this.#settle(submission, { kind: 'requeue' });
  }

  /** Segments that still wait are not sent when another one was refused for good. */
  #cancelRest(submitter: BindSubmitter<Segment>, submission: Submission): void {
    for (const { index } of submitter.withdraw((segment) => segment.submission === submission)) {
      submission.answers[index] = { kind: 'unwritten' };
    }
  }

  #conclude(submitter: BindSubmitter<Segment>, submission: Submission): void {
    const answers = submission.complete();
    if (answers === undefined) return;
    const verdict = verdictOf(answers, { carrier: this.#options.carrier._id, ...statusClasses(this.#options.carrier) });
    if (verdict.kind !== 'resume') this.#settle(submission, verdict);
    else if (submission.resumed >= MAX_RESUMES) this.#settle(submission, verdict.otherwise);
    else if (!submission.segments.some(({ late }) => late)) this.#resume(submitter, submission, verdict);
    else void this.#resumeLate(submitter, submission, verdict);
  }

  /** One answer came late, so the message was settled as unknown: its rest goes only while nobody has decided about it since. */
  async #resumeLate(submitter: BindSubmitter<Segment>, submission: Submission, verdict: Resume): Promise<void> {
    const { parts } = verdict.otherwise;
    const stored = this.#options.outcomes.add(submission.message, { kind: 'unknown', parts });
    this.#store(stored);
    const message = await stored.catch(() => undefined);
    if (message?.state !== 'submitting' || message.claim?.id !== submission.message.claim?.id) {
      this.#settle(submission, verdict.otherwise);
      return;
    }
    submission.message = message;
    for (const segment of submission.segments) segment.late = false;
    this.#resume(submitter, submission, verdict);
  }

  /** The rest of a partly accepted message, on the same bind (bound anew, if it must be), with the same reference. */
  #resume(submitter: BindSubmitter<Segment>, submission: Submission, { segments, throttled, otherwise }: Resume): void {
    const rest = segments.flatMap((index) => submission.segments[index] ?? []);
    if (throttled) submission.throttles += 1;
    if (!throttled || submission.throttles % THROTTLES_PER_TRY === 0) submission.resumed += 1;
    // After throttling the rate itself makes it wait.
    const waitMs = throttled ? 1 : FIRST_RESUME_MS * 2 ** (submission.resumed - 1);
    const giveUp = (): void => this.#settle(submission, otherwise);
    const goOn = (looks: number): void => {
      if (!submitter.bound && looks < REBOUND_LOOKS) {
        this.#later(REBOUND_LOOK_MS, () => goOn(looks + 1), giveUp);
      } else if (submitter.bound) {
        for (const { index } of rest) submission.answers[index] = undefined;
        submitter.add(rest);
      } else {
        giveUp();
      }
    };
    this.#later(waitMs, () => goOn(0), giveUp);
  }

  #later(waitMs: number, goOn: () => void, giveUp: () => void): void {
    if (this.#closed) {
      giveUp();
      return;
    }
    const timer = setTimeout(() => {
      this.#resuming.delete(timer);
      goOn();
    }, waitMs);
    this.#resuming.set(timer, giveUp);
  }

  #settle(submission: Submission, outcome: SubmitOutcome): void {
    this.#options.metrics.outcomes.inc({ carrier: this.#options.carrier._id, outcome: outcome.kind });
    const stored = this.#options.outcomes.add(submission.message, outcome).then((message) => {
      submission.message = message ?? submission.message;
    });
    this.#store(stored);
  }

  /** A failure here means that the lease or the store is gone for good: the next holder finds the messages `submitting`. */
  #store(stored: Promise<unknown>): void {
    stored.catch((error: unknown) => {
      this.#options.log.warn('outcome_left', { carrier: this.#options.carrier._id, ...errorFields(error) });
    });
  }
}

type Resume = Extract<Verdict, { readonly kind: 'resume' }>;

function statusClasses({ statusClasses: classes }: CarrierDocument): Pick<CarrierDocument, 'statusClasses'> {
  return classes === undefined ? {} : { statusClasses: classes };
}
