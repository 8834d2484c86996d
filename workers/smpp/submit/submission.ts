import type { CommandStatusClass } from '../../../shared/carriers/command-status.ts';
import type { MessageDocument, Part } from '../../../shared/messages/document/message.ts';
import type { Refusal, SubmitOutcome } from '../../../shared/messages/settlement/decide-outcome.ts';
import { caselessKey, messageKey } from '../dialect/message-ids.ts';
import type { CarrierAnswer } from '../session/wire.ts';
import type { BreakerAnswer } from './breaker.ts';

interface RequestTarget {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is written for one segment: a submit_sm, or the body of a request with its target. */
export interface Frame {
  readonly frame: Buffer;
  readonly target?: RequestTarget;
}

export class Submission {
  /** The message as it is stored, as far as we know. */
  message: MessageDocument;
  readonly segments: readonly Segment[];
  readonly answers: (SegmentAnswer | undefined)[];
  /** How often segments that were refused for now were sent again. `throttles` counts how often they were throttled. */
  resumed = 0;
  throttles = 0;

  /** `frames`: one for each segment. The one request of an HTTP carrier is one segment, however long the text. */
  constructor(message: MessageDocument, frames: readonly Frame[]) {
    this.message = message;
    this.segments = frames.map((frame, index) => ({ submission: this, index, ...frame, late: false, sentMs: 0 }));
    this.answers = frames.map(() => undefined);
  }

  complete(): readonly SegmentAnswer[] | undefined {
    const answers = this.answers.flatMap((answer) => answer ?? []);
    return answers.length === this.segments.length ? answers : undefined;
  }
}

export interface Segment extends Frame {
  readonly submission: Submission;
  readonly index: number;
  /** The answer did not come in time: the slot was freed, and the message was settled as unknown. */
  late: boolean;
  /** When the segment was last written, by the monotonic clock. */
  sentMs: number;
}

/** `unwritten`: it certainly never reached the carrier. `unknown`: it may have reached it. */
export type SegmentAnswer =
  | ({ readonly kind: 'answered' } & CarrierAnswer)
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unwritten' };

/**
 * What the answers to all segments of a message mean together. `resume`: some segments were accepted, and only the
 * others are sent again. `refused_here`: no segment was accepted, and another carrier may take the message.
 */
export type Verdict =
  | Exclude<SubmitOutcome, { readonly kind: 'failover' }>
  | ({ readonly kind: 'refused_here' } & Refusal)
  | {
      readonly kind: 'resume';
      readonly segments: readonly number[];
      readonly throttled: boolean;
      /** The outcome if the remaining segments cannot be sent any more. */
      readonly otherwise: Extract<SubmitOutcome, { readonly kind: 'partial' | 'rejected' }>;
    };

export function verdictOf(answers: readonly SegmentAnswer[], carrier: string): Verdict {
  const classes = answers.map(classOf);
  const parts = answers.map((answer) => partOf(answer, carrier));
  if (classes.includes('unknown')) return { kind: 'unknown', parts };
  if (classes.every((one) => one === 'accepted')) return { kind: 'sent', parts };

  const refusal = worstRefusal(answers, classes);
  if (classes.includes('accepted')) {
    const partial = { kind: 'partial', parts, ...refusal } as const;
    if (classes.some(isFinal)) return partial;
    const segments = classes.flatMap((one, i) => (one === 'accepted' ? [] : [i]));
    return { kind: 'resume', segments, throttled: !classes.includes('retry'), otherwise: partial };
  }
  if (classes.includes('rejected')) return { kind: 'rejected', parts, ...refusal };
  if (classes.includes('failover')) return { kind: 'refused_here', parts, ...refusal };
  if (classes.includes('retry')) return { kind: 'retry', ...refusal, ...pauseOf(answers) };
  if (classes.includes('throttled')) return { kind: 'throttled', ...refusal };
  return { kind: 'requeue' };
}

/** Whether this answer means that the carrier takes no other segment of the message either. */
export function isFinal(answer: AnswerClass): boolean {
  return answer === 'rejected' || answer === 'failover';
}

/** The longest pause that the carrier's settings ask for after these statuses. */
export function pauseOf(answers: readonly SegmentAnswer[]): { readonly pauseMs?: number } {
  const pauses = answers.flatMap((answer) => (answer.kind === 'answered' ? (answer.pauseMs ?? []) : []));
  return pauses.length === 0 ? {} : { pauseMs: Math.max(...pauses) };
}

type AnswerClass = CommandStatusClass | 'unknown' | 'unwritten';

function classOf(answer: SegmentAnswer): AnswerClass {
  return answer.kind === 'answered' ? answer.meaning : answer.kind;
}

/** Undefined if the answers say nothing about the carrier itself: it is busy, or nothing was written. */
export function aboutCarrier({ kind }: Verdict, answers: readonly SegmentAnswer[]): BreakerAnswer | undefined {
  const answered = answers.flatMap((answer) => (answer.kind === 'answered' ? answer : []));
  const unusable = answered.some(({ meaning }) => meaning === 'bind');
  if (kind === 'unknown' || unusable) return 'fault';
  if (kind === 'refused_here') return 'refused';
  if (kind === 'retry') return answered.every(({ isBusy }) => isBusy === true) ? undefined : 'fault';
  return kind === 'throttled' || kind === 'requeue' ? undefined : 'good';
}

function partOf(answer: SegmentAnswer, carrier: string): Part {
  if (answer.kind === 'unknown') return { state: 'unknown' };
  if (answer.kind === 'unwritten') return { state: 'refused' };
  if (answer.meaning !== 'accepted') return { state: 'refused', error: answer.code };
  const key = messageKey(carrier, answer.messageId);
  const caseless = key === undefined ? undefined : caselessKey(key);
  return {
    state: 'accepted',
    ...(key === undefined ? {} : { key }),
    ...(caseless === undefined ? {} : { caseless }),
  };
}

const SEVERITY: readonly AnswerClass[] = ['rejected', 'failover', 'retry', 'throttled', 'bind'];

function worstRefusal(
  answers: readonly SegmentAnswer[],
  classes: readonly AnswerClass[],
): { readonly code: string; readonly reason: string } {
  for (const severity of SEVERITY) {
    const answer = answers[classes.indexOf(severity)];
    if (answer?.kind !== 'answered') continue;
    return { code: answer.code, reason: answer.reason };
  }
  return { code: 'not_sent', reason: 'The connection to the carrier was lost' };
}
