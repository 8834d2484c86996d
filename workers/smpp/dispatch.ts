import type { CarrierDlt, CarrierDocument } from '../../shared/carriers/carrier.ts';
import { statusClass } from '../../shared/carriers/command-status.ts';
import type { Claimer } from '../../shared/messages/claim.ts';
import type { Departures, Refusal } from '../../shared/messages/departures.ts';
import type { MessageDocument } from '../../shared/messages/message.ts';
import type { OutcomeSettler } from '../../shared/messages/settle-outcomes.ts';
import type { SubmitOutcome } from '../../shared/messages/submit-outcome.ts';
import type { ListenForChanges } from '../../shared/mongo/change-signal.ts';
import type { Throttle } from '../../shared/rate/throttle.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import { PollLoop } from '../../shared/runtime/poll-loop.ts';
import type { AccountChains } from './account-chains.ts';
import { encodeMessage, type References } from './encode.ts';
import type { Figures } from './figures.ts';
import type { Line } from './line.ts';
import { type Verdict, verdictOf } from './outcome.ts';
import { encodeSubmit } from './pdu.ts';
import type { SubmitAnswer } from './session.ts';
import { type Segment, Submission } from './submission.ts';
import type { LostSubmits } from './unanswered-submits.ts';

/**
 * Claims what can be written now, writes it, collects the answers and hands the outcome of each message to be settled. Nothing here
 * is the only place that knows of a message: it is `submitting` in the store until it is settled.
 */
export interface DispatchOptions {
  readonly carrier: CarrierDocument;
  readonly clock: Clock;
  readonly log: Log;
  readonly figures: Figures;
  readonly claimer: Claimer;
  readonly departures: Departures;
  readonly chains: AccountChains;
  readonly outcomes: OutcomeSettler;
  readonly throttle: Throttle;
  readonly references: References;
  readonly lines: () => readonly Line[];
  /** Where it can be heard that messages are queued. */
  readonly listen?: ListenForChanges | undefined;
  /** The lease is held. */
  held(): boolean;
}

const MAX_CLAIM = 500;
/** Outcomes that the store has not taken yet; above it nothing more is claimed. */
const MAX_UNSETTLED = 5_000;
/** Claimed ahead of the rate: the tokens of a claim that takes long would be lost otherwise. The window paces the writing. */
const AHEAD_MS = 100;
const IDLE_MS = 100;
/** After a claim that took little, company is waited for: a claim of ten costs little more than a claim of one. */
const GATHER_MS = 8;
/** Rounds in which the rest of a partly accepted message is sent again. */
const MAX_RESUMES = 5;
const FIRST_RESUME_MS = 1_000;

export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #loop: PollLoop;
  /** Waits of messages that are to be resumed, and what ends them without. */
  readonly #resuming = new Map<NodeJS.Timeout, () => void>();
  #tokenTimer: NodeJS.Timeout | undefined;
  #hungry = true;
  #stopping = false;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#loop = new PollLoop({
      name: `dispatch:${options.carrier._id}`,
      idleMs: IDLE_MS,
      log: options.log,
      work: () => this.#round(),
      listen: (wake) => options.listen?.('messages', wake),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Room has come back. Wakes only when there was more to claim than room for it. */
  room(): void {
    if (this.#hungry) this.#loop.wake();
  }

  /** Claims no more; what no segment was written of goes back. Begun messages go on. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#loop.stop();
    for (const { window } of this.#options.lines()) {
      const unbegun = window.withdraw(({ submission }) => submission.answers.every((answer) => answer === undefined));
      // Only those whose first segment waits too: a message of which some segments are written is under way.
      const first = new Set(unbegun.filter(({ index }) => index === 0).map(({ submission }) => submission));
      window.add(unbegun.filter(({ submission }) => !first.has(submission)));
      for (const submission of first) this.#settle(submission, { kind: 'requeue' });
    }
  }

  /** Ends the waits of messages that were to be resumed: their rest will not be sent. */
  close(): void {
    clearTimeout(this.#tokenTimer);
    for (const [timer, giveUp] of this.#resuming) {
      clearTimeout(timer);
      giveUp();
    }
    this.#resuming.clear();
  }

  /** Whether partly accepted messages wait for their rest to be sent. */
  get resuming(): boolean {
    return this.#resuming.size > 0;
  }

  onAnswer(line: Line, segment: Segment, answer: SubmitAnswer): void {
    const { carrier, throttle, figures } = this.#options;
    const meaning = statusClass(answer.status, carrier.statusClasses);
    figures.answers.inc({ carrier: carrier._id, class: meaning });
    if (meaning === 'accepted') throttle.accepted();
    else if (meaning === 'throttled') throttle.throttled();
    const { submission, index, late } = segment;
    submission.answers[index] = { kind: 'answered', ...answer };
    if (meaning === 'rejected') this.#cancelRest(line, submission);
    if (!late) line.window.release();
    this.#conclude(line, submission);
    if (meaning === 'bind') line.bind.recycle('session_refused');
  }

  onTimeout(line: Line, segment: Segment): void {
    segment.late = true;
    segment.submission.answers[segment.index] = { kind: 'unknown' };
    line.window.release();
    this.#conclude(line, segment.submission);
  }

  onLost(line: Line, lost: LostSubmits<Segment>): void {
    const ended = new Set<Submission>();
    const end = (segments: readonly Segment[], kind: 'unknown' | 'unwritten'): void => {
      for (const { submission, index } of segments) {
        submission.answers[index] = { kind };
        ended.add(submission);
      }
    };
    end(lost.unanswered, 'unknown');
    end(lost.unwritten, 'unwritten');
    end(line.window.clear(), 'unwritten');
    for (const submission of ended) this.#conclude(line, submission);
  }

  async #round(): Promise<'more' | 'idle'> {
    const { claimer, throttle, outcomes, figures, held } = this.#options;
    if (this.#stopping || !held() || outcomes.open >= MAX_UNSETTLED) return 'idle';
    const slots = this.#ready().reduce((sum, { window }) => sum + window.free, 0);
    const room = Math.min(slots, Math.max(throttle.available(), throttle.soon(AHEAD_MS) - this.#waiting()), MAX_CLAIM);
    this.#hungry = room === 0;
    if (room === 0) {
      if (slots > 0) this.#wakeForTokens(throttle.waitMs());
      return 'idle';
    }
    const messages = await claimer.claim({ messages: room, segments: room });
    if (messages.length === 0) return 'idle';
    figures.claimSize.observe(messages.length);
    if (!(await this.#depart(messages))) return 'idle';
    const segments = messages.reduce((sum, message) => sum + message.segments, 0);
    if (segments < room / 2) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    return 'more';
  }

  #wakeForTokens(waitMs: number): void {
    clearTimeout(this.#tokenTimer);
    this.#tokenTimer = setTimeout(() => this.room(), waitMs);
  }

  #waiting(): number {
    return this.#options.lines().reduce((sum, { window }) => sum + window.waiting, 0);
  }

  #ready(): readonly Line[] {
    return this.#options.lines().filter(({ bind, window }) => bind.ready && window.free > 0);
  }

  /** Submits what was claimed, but for what may not leave any more. False when that could not be asked: then all goes back. */
  async #depart(messages: readonly MessageDocument[]): Promise<boolean> {
    const { carrier, departures, chains, outcomes, log } = this.#options;
    const asked = await Promise.all([departures.refusals(messages), chains.of(messages)]).catch((error: unknown) => {
      log.warn('departures_unknown', { carrier: carrier._id, messages: messages.length, ...errorFields(error) });
    });
    if (asked === undefined) {
      for (const message of messages) this.#store(outcomes.add(message, { kind: 'requeue' }));
      return false;
    }
    const [refusals, ownChains] = asked;
    for (const message of messages) {
      const refusal = refusals.get(message._id);
      if (refusal === undefined) this.#submit(message, ownChains.get(message.account));
      else this.#refuse(message, refusal);
    }
    return true;
  }

  #refuse(message: MessageDocument, { code, reason }: Refusal): void {
    this.#options.figures.outcomes.inc({ carrier: this.#options.carrier._id, outcome: 'rejected' });
    this.#store(this.#options.outcomes.add(message, { kind: 'rejected', parts: [], code, reason }));
  }

  /** All segments on one bind, the one with the most room. */
  #submit(message: MessageDocument, ownChain: readonly string[] | undefined): void {
    const frames = this.#encode(message, ownChain);
    if ('code' in frames) {
      this.#refuse(message, frames);
      return;
    }
    const submission = new Submission(message, frames);
    const line = this.#ready().reduce<Line | undefined>(roomier, undefined);
    if (line === undefined || this.#stopping) this.#settle(submission, { kind: 'requeue' });
    else line.window.add(submission.segments);
  }

  /** Its submit_sm, or why no carrier can take it. */
  #encode(message: MessageDocument, ownChain: readonly string[] | undefined): readonly Buffer[] | Refusal {
    const { carrier, references, clock, log } = this.#options;
    const { dlt = 'off' } = carrier;
    const reference = message.segments > 1 ? references.next(message.to) : 0;
    try {
      const encoded = encodeMessage(message, reference, clock.now(), withChain(dlt, ownChain));
      if (encoded.kind === 'unfit') return { code: encoded.code, reason: encoded.reason };
      return encoded.segments.map(encodeSubmit);
    } catch (error) {
      // A message that the codec cannot take must not stop those behind it.
      log.error('message_not_encoded', { message_id: message._id, ...errorFields(error) });
      return { code: 'not_encodable', reason: 'The message cannot be encoded' };
    }
  }

  /** Segments that still wait are not sent when another one was refused for good. */
  #cancelRest(line: Line, submission: Submission): void {
    for (const { index } of line.window.withdraw((segment) => segment.submission === submission)) {
      submission.answers[index] = { kind: 'unwritten' };
    }
  }

  #conclude(line: Line, submission: Submission): void {
    const answers = submission.complete();
    if (answers === undefined) return;
    const verdict = verdictOf(answers, { carrier: this.#options.carrier._id, ...statusClasses(this.#options.carrier) });
    if (verdict.kind !== 'resume') this.#settle(submission, verdict);
    else if (this.#mayResume(line, submission)) this.#resume(line, submission, verdict);
    else this.#settle(submission, verdict.otherwise);
  }

  #mayResume(line: Line, submission: Submission): boolean {
    return submission.resumed < MAX_RESUMES && line.bind.ready && !submission.segments.some(({ late }) => late);
  }

  /** The rest of a partly accepted message, on the same bind, with the same reference. */
  #resume(
    line: Line,
    submission: Submission,
    { segments, throttled, otherwise }: Extract<Verdict, { kind: 'resume' }>,
  ): void {
    const rest = segments.flatMap((index) => submission.segments[index] ?? []);
    submission.resumed += 1;
    // After throttling the rate itself makes it wait.
    const waitMs = throttled ? 1 : FIRST_RESUME_MS * 2 ** (submission.resumed - 1);
    const timer = setTimeout(() => {
      this.#resuming.delete(timer);
      if (!line.bind.ready) {
        this.#settle(submission, otherwise);
        return;
      }
      for (const { index } of rest) submission.answers[index] = undefined;
      line.window.add(rest);
    }, waitMs);
    this.#resuming.set(timer, () => this.#settle(submission, otherwise));
  }

  #settle(submission: Submission, outcome: SubmitOutcome): void {
    this.#options.figures.outcomes.inc({ carrier: this.#options.carrier._id, outcome: outcome.kind });
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

function withChain(dlt: CarrierDlt | 'off', chain: readonly string[] | undefined): CarrierDlt | 'off' {
  return dlt === 'off' || chain === undefined ? dlt : { ...dlt, chain };
}

function roomier(best: Line | undefined, line: Line): Line {
  return best === undefined || line.window.free > best.window.free ? line : best;
}

function statusClasses({ statusClasses: classes }: CarrierDocument): Pick<CarrierDocument, 'statusClasses'> {
  return classes === undefined ? {} : { statusClasses: classes };
}
