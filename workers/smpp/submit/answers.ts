import type { LostSubmits } from '../../../shared/carriers/smpp/unanswered-submits.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import {
  type Refusal,
  type SubmitOutcome,
  THROTTLES_PER_TRY,
} from '../../../shared/messages/settlement/decide-outcome.ts';
import type { OutcomeSettler } from '../../../shared/messages/settlement/settle-outcomes.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import type { Refusal as NotLeaving } from '../claim/departures.ts';
import type { Serving } from '../claim/serving.ts';
import type { Measurements } from '../monitoring/bind-reporter.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import type { CarrierAnswer } from '../session/wire.ts';
import type { BindSubmitter } from './bind-submitter.ts';
import type { Breaker } from './breaker.ts';
import type { CarrierRate } from './carrier-rate.ts';
import {
  aboutCarrier,
  isFinal,
  pauseOf,
  type Segment,
  type Submission,
  type Verdict,
  verdictOf,
} from './submission.ts';

export interface AnswersOptions extends Pick<CarrierContext, 'carrier' | 'clock' | 'log' | 'metrics'> {
  readonly outcomes: OutcomeSettler;
  readonly tokens: CarrierRate;
  readonly breaker: Breaker;
  readonly serving: Pick<Serving, 'next'>;
  readonly measurements: Measurements;
}

/** How often the rest of a partly accepted message is sent again; many throttled tries count as one. */
const MAX_RESUMES = 5;

/** Collects the answers to all segments of a message, then has the message's outcome settled. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #resumes = new Resumes();

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  get resuming(): boolean {
    return this.#resumes.waiting;
  }

  /** Stops waiting: the remaining segments of partly accepted messages will not be sent. */
  close(): void {
    this.#resumes.close();
  }

  /** Returns false when the carrier says that the session is not usable. */
  onAnswer(submitter: BindSubmitter<Segment>, segment: Segment, answer: CarrierAnswer): boolean {
    const { carrier, tokens, metrics, clock, measurements } = this.#options;
    const { meaning } = answer;
    // In the metrics a refusal counts as `rejected`, even if another carrier may take the message.
    const counted = meaning === 'failover' ? 'rejected' : meaning;
    metrics.answers.inc({ carrier: carrier._id, class: counted });
    const answerMs = clock.monotonicMs() - segment.sentMs;
    measurements.answered(answer, counted, answerMs);
    metrics.answerSeconds.observe({ carrier: carrier._id }, answerMs / 1_000);
    const { submission, index, late } = segment;
    // A late answer says nothing about the current rate. `onTimeout` has counted it already.
    if (!late) {
      if (meaning === 'accepted') tokens.accepted();
      else if (meaning === 'throttled') tokens.throttled(answer.pauseMs);
      else tokens.otherwise();
    }
    submission.answers[index] = { kind: 'answered', ...answer };
    if (isFinal(meaning)) this.#cancelRest(submitter, submission);
    if (!late) submitter.release();
    this.#conclude(submitter, submission);
    return meaning !== 'bind';
  }

  onTimeout(submitter: BindSubmitter<Segment>, segment: Segment): void {
    segment.late = true;
    this.#options.tokens.otherwise();
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
    for (const _ of [...lost.unanswered, ...lost.unwritten]) this.#options.tokens.otherwise();
    end(lost.unanswered, 'unknown');
    end(lost.unwritten, 'unwritten');
    end(submitter.clear(), 'unwritten');
    for (const submission of ended) this.#conclude(submitter, submission);
  }

  refuse(message: MessageDocument, { code, reason }: NotLeaving): void {
    this.#options.metrics.outcomes.inc({ carrier: this.#options.carrier._id, outcome: 'rejected' });
    this.#store(this.#options.outcomes.add(message, { kind: 'rejected', parts: [], code, reason }));
  }

  /** For a message that was not encoded yet. */
  requeue(message: MessageDocument): void {
    this.#store(this.#options.outcomes.add(message, { kind: 'requeue' }));
  }

  defer(message: MessageDocument, until: Date): void {
    this.#store(this.#options.outcomes.add(message, { kind: 'deferred', until }));
  }

  /** For a message that was encoded, and of which no segment was written. */
  requeueEncoded(submission: Submission): void {
    this.#settle(submission, { kind: 'requeue' });
  }

  /** When the carrier has refused one segment for good, those that still wait are not sent. */
  #cancelRest(submitter: BindSubmitter<Segment>, submission: Submission): void {
    for (const { index } of submitter.withdraw((segment) => segment.submission === submission)) {
      submission.answers[index] = { kind: 'unwritten' };
    }
  }

  #conclude(submitter: BindSubmitter<Segment>, submission: Submission): void {
    const answers = submission.complete();
    if (answers === undefined) return;
    const verdict = verdictOf(answers, this.#options.carrier._id);
    const about = aboutCarrier(verdict, answers);
    if (about !== undefined) this.#options.breaker.answered(about);
    if (verdict.kind === 'refused_here') this.#passOn(submission, verdict, pauseOf(answers).pauseMs);
    else if (verdict.kind === 'retry' || verdict.kind === 'throttled') {
      this.#settle(submission, { ...verdict, ...this.#nextPath(submission) });
    } else if (verdict.kind !== 'resume') this.#settle(submission, verdict);
    else if (submission.resumed >= MAX_RESUMES) this.#settle(submission, verdict.otherwise);
    else if (!submission.segments.some(({ late }) => late)) this.#resume(submitter, submission, verdict);
    else void this.#resumeLate(submitter, submission, verdict);
  }

  /** The message was settled as unknown meanwhile: sends the rest only if nobody has decided about it since. */
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

  #resume(submitter: BindSubmitter<Segment>, submission: Submission, verdict: Resume): void {
    this.#resumes.add(submitter, submission, verdict, () => this.#settle(submission, verdict.otherwise));
  }

  /** Gives the message to the next carrier of its route. If there is none, rejects it. */
  #passOn(submission: Submission, { parts, code, reason }: Refusal, pauseMs: number | undefined): void {
    if (pauseMs !== undefined) this.#options.breaker.trip(pauseMs);
    const { path } = this.#nextPath(submission);
    if (path === undefined) this.#settle(submission, { kind: 'rejected', parts, code, reason });
    else this.#settle(submission, { kind: 'failover', path, code, reason });
  }

  #nextPath({ message }: Submission): { readonly path?: string } {
    const path = this.#options.serving.next(message);
    return path === undefined ? {} : { path };
  }

  #settle(submission: Submission, outcome: SubmitOutcome): void {
    this.#options.metrics.outcomes.inc({ carrier: this.#options.carrier._id, outcome: outcome.kind });
    const stored = this.#options.outcomes.add(submission.message, outcome).then((message) => {
      submission.message = message ?? submission.message;
    });
    this.#store(stored);
  }

  /** If this fails, the lease or the store is gone. The lease's next holder finds the messages as `submitting`. */
  #store(stored: Promise<unknown>): void {
    stored.catch((error: unknown) => {
      this.#options.log.warn('outcome_left', { carrier: this.#options.carrier._id, ...errorFields(error) });
    });
  }
}

/** Some segments were accepted, and the others still may be. */
type Resume = Extract<Verdict, { readonly kind: 'resume' }>;

const FIRST_PAUSE_MS = 1_000;
/** While the remaining segments wait for their bind to come back: how often, and how many times, to look at it. */
const REBOUND_LOOK_MS = 500;
const REBOUND_LOOKS = 120;

/** Sends the rest of partly accepted messages with the same reference on the same bind, once that is bound. */
class Resumes {
  /** The pauses in progress. Each has a function that gives up the message without sending. */
  readonly #pauses = new Map<NodeJS.Timeout, () => void>();
  #closed = false;

  get waiting(): boolean {
    return this.#pauses.size > 0;
  }

  close(): void {
    this.#closed = true;
    for (const [timer, giveUp] of this.#pauses) {
      clearTimeout(timer);
      giveUp();
    }
    this.#pauses.clear();
  }

  /** Calls `giveUp` instead if the bind does not come back, or after `close`. */
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
