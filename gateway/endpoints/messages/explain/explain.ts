import { SCRUB_RULES, scrubRule } from '../../../../shared/carriers/scrub-rules.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { StoredMessage } from '../../../../shared/messages/document/message.ts';
import { CARRIER_CODES } from './carrier-codes.ts';
import { CHATAPP_CODES } from './chatapp-codes.ts';
import { type ExplainedCodes, type Explanation, NOT_YOURS, REMOVE_NUMBER, SEND_LATER } from './explanation.ts';
import { OWN_CODES } from './own-codes.ts';
import { adviceOn } from './receipt-reasons.ts';

/** The codes of one origin, under a heading for the documentation. */
export const CODE_GROUPS: readonly { readonly heading: string; readonly codes: readonly ExplainedCodes[] }[] = [
  { heading: 'Harkara', codes: OWN_CODES },
  { heading: 'Answers of carriers (SMPP)', codes: CARRIER_CODES },
  { heading: 'DLT scrubbing (India)', codes: SCRUB_RULES },
  { heading: 'Chat-app channel', codes: CHATAPP_CODES },
];

/** Numbers in receipts mean DLT only when the receipt's reason says so: other vendors use the same numbers. */
const DLT_REASON = /^DLT\b/;

const NAMED = byCode([...OWN_CODES, ...CHATAPP_CODES, ...CARRIER_CODES]);

type Told = Pick<StoredMessage, 'state'> &
  Partial<Pick<StoredMessage, 'errorCode' | 'errorReason' | 'outcome' | 'closedReason'>> &
  Partial<Pick<ChatMessageDocument, 'heldBack'>>;

/** Why a message stands as it does, and what to do. Undefined when all is well, or when its end is still open as usual. */
export function explain(message: Told): Explanation | undefined {
  const { state, errorCode, errorReason, outcome, closedReason, heldBack } = message;
  if (outcome === 'unknown') return UNANSWERED;
  if (closedReason === 'no_receipt') return NO_RECEIPT;
  if (state === 'sent' && heldBack !== undefined) return heldBack === 'paused' ? TEMPLATE_PAUSED : HELD_BACK;
  if (state === 'waiting') return WAITING;
  if (state !== 'failed' && state !== 'expired' && state !== 'rejected') return undefined;
  const dlt = dltCodeOf(message);
  const known =
    errorCode === undefined ? undefined : (NAMED.get(errorCode) ?? (dlt === undefined ? undefined : scrubRule(dlt)));
  if (known !== undefined) return { cause: known.cause, advice: known.advice };
  if (errorReason !== undefined && !NO_REASONS.has(errorReason)) {
    const cause = errorReason.endsWith('.') ? errorReason : `${errorReason}.`;
    return { cause, advice: adviceOn(errorReason) ?? UNEXPLAINED[state].advice };
  }
  const { cause, advice } = UNEXPLAINED[state];
  return { cause: errorCode === undefined ? cause : `${cause} The carrier gave the code ${errorCode}.`, advice };
}

/** The code of DLT scrubbing that a message was refused with. */
export function dltCodeOf({ errorCode, errorReason }: Pick<Told, 'errorCode' | 'errorReason'>): string | undefined {
  return errorReason !== undefined && DLT_REASON.test(errorReason) ? errorCode : undefined;
}

/** What one of our own names for an error means. Undefined for other texts. */
export function explainCode(code: string): Explanation | undefined {
  return NAMED.get(code);
}

/** What a code of counted messages means. A carrier's own numbers mean different things; each message has the words of its receipt. */
export function explainCounted(code: string): Explanation {
  return (
    NAMED.get(code) ?? {
      cause: `The code ${code} of a carrier, which means different things.`,
      advice: 'Open one of the messages: its page has the reason in words.',
    }
  );
}

/** What receipts are called that say no more than the state (workers/smpp/dialect/receipt-dialect.ts). */
const NO_REASONS: ReadonlySet<string> = new Set([
  'Not delivered',
  'Not delivered within its validity',
  'Rejected by the network',
]);

const UNANSWERED: Explanation = {
  cause: 'The message was handed to a carrier that has not answered yet.',
  advice: 'Wait: a late answer or a receipt still counts. Do not send it again, it could arrive twice.',
};

const NO_RECEIPT: Explanation = {
  cause: 'A carrier took the message and never told what became of it.',
  advice: 'It has probably arrived. If this happens often, tell your service provider.',
};

const HELD_BACK: Explanation = {
  cause: 'The provider took the message and holds it back, while it looks at how customers receive its template.',
  advice: 'It goes by itself, or fails and is refunded. Send the template to few customers first until then.',
};

const TEMPLATE_PAUSED: Explanation = {
  cause: 'The provider took the message and holds it back, because its template is paused.',
  advice: 'See the template on its page. Use another one until the provider resumes it.',
};

const WAITING: Explanation = {
  cause: 'The message could not leave at the first try and waits for the next one.',
  advice: 'It is tried again by itself, a few times, and refunded if it cannot leave.',
};

/** For receipts that say no more than the state. */
const UNEXPLAINED: Readonly<Record<'failed' | 'expired' | 'rejected', Explanation>> = {
  failed: {
    cause: 'The network could not deliver the message, without a reason that we know.',
    advice: `${SEND_LATER} If it fails again: ${REMOVE_NUMBER.charAt(0).toLowerCase()}${REMOVE_NUMBER.slice(1)}`,
  },
  expired: {
    cause: 'The phone could not be reached until the validity of the message ended.',
    advice: 'Send the message again, with a later `valid_until` if it has one.',
  },
  rejected: { cause: 'The network refused the message, without a reason that we know.', advice: NOT_YOURS },
};

function byCode(list: readonly ExplainedCodes[]): ReadonlyMap<string, ExplainedCodes> {
  return new Map(list.flatMap((entry) => entry.codes.map((code) => [code, entry] as const)));
}
