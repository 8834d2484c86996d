import {
  type CommandStatusClass,
  statusClass,
  statusReason,
  statusText,
} from '../../../shared/carriers/command-status.ts';
import type { Part } from '../../../shared/messages/message.ts';
import type { SubmitOutcome } from '../../../shared/settlement/submit-outcome.ts';
import { messageKey } from '../dialect/message-ids.ts';

/** What became of one segment. `unwritten`: it certainly never reached the carrier. `unknown`: it may have. */
export type SegmentAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly messageId: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unwritten' };

export interface CarrierAnswers {
  readonly carrier: string;
  readonly statusClasses?: Readonly<Record<string, CommandStatusClass>>;
}

/**
 * What the answers to all segments of a message mean for it. `resume` says that some were accepted and the rest may still be: only those
 * segments are to be sent again.
 */
export type Verdict =
  | SubmitOutcome
  | {
      readonly kind: 'resume';
      readonly segments: readonly number[];
      readonly throttled: boolean;
      /** What it is when the rest cannot be sent any more. */
      readonly otherwise: Extract<SubmitOutcome, { readonly kind: 'partial' | 'rejected' }>;
    };

export function verdictOf(answers: readonly SegmentAnswer[], carrier: CarrierAnswers): Verdict {
  const classes = answers.map((answer) => classOf(answer, carrier));
  const parts = answers.map((answer, i) => partOf(answer, classes[i] === 'accepted', carrier.carrier));
  if (classes.includes('unknown')) return { kind: 'unknown', parts };
  if (classes.every((one) => one === 'accepted')) return { kind: 'sent', parts };

  const refusal = worstRefusal(answers, classes);
  if (classes.includes('accepted')) {
    const partial = { kind: 'partial', parts, ...refusal } as const;
    if (classes.includes('rejected')) return partial;
    const segments = classes.flatMap((one, i) => (one === 'accepted' ? [] : [i]));
    return { kind: 'resume', segments, throttled: !classes.includes('retry'), otherwise: partial };
  }
  if (classes.includes('rejected')) return { kind: 'rejected', parts, ...refusal };
  if (classes.includes('retry')) return { kind: 'retry', ...refusal };
  if (classes.includes('throttled')) return { kind: 'throttled', ...refusal };
  return { kind: 'requeue' };
}

type AnswerClass = CommandStatusClass | 'unknown' | 'unwritten';

function classOf(answer: SegmentAnswer, carrier: CarrierAnswers): AnswerClass {
  return answer.kind === 'answered' ? statusClass(answer.status, carrier.statusClasses) : answer.kind;
}

function partOf(answer: SegmentAnswer, accepted: boolean, carrier: string): Part {
  if (answer.kind === 'unknown') return { state: 'unknown' };
  if (answer.kind === 'unwritten') return { state: 'refused' };
  if (!accepted) return { state: 'refused', error: statusText(answer.status) };
  const key = messageKey(carrier, answer.messageId);
  return { state: 'accepted', ...(key === undefined ? {} : { key }) };
}

const SEVERITY: readonly AnswerClass[] = ['rejected', 'retry', 'throttled', 'bind'];

/** The status that decides, the gravest class first. */
function worstRefusal(
  answers: readonly SegmentAnswer[],
  classes: readonly AnswerClass[],
): { readonly code: string; readonly reason: string } {
  for (const severity of SEVERITY) {
    const answer = answers[classes.indexOf(severity)];
    if (answer?.kind !== 'answered') continue;
    return { code: statusText(answer.status), reason: statusReason(answer.status) };
  }
  return { code: 'not_sent', reason: 'The connection to the carrier was lost' };
}
