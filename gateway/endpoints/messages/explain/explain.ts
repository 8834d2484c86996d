import { SCRUB_RULES, scrubRule } from '../../../../shared/carriers/scrub-rules.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { OVERTAKEN } from '../../../../shared/messages/document/fallback.ts';
import type { StoredMessage } from '../../../../shared/messages/document/message.ts';

interface Explanation {
  readonly cause: string;
  readonly advice: string;
}

export interface ExplainedCodes extends Explanation {
  readonly codes: readonly string[];
}

function explained(codes: string | readonly string[], cause: string, advice: string): ExplainedCodes {
  return { codes: typeof codes === 'string' ? [codes] : codes, cause, advice };
}

/** For codes that the customer can do nothing about. */
const NOT_YOURS = 'Your message is not the reason. Tell your service provider the message_id if it happens again.';
const REMOVE_NUMBER = 'Remove the number from your list, or ask the recipient for the right one.';
const SEND_LATER = 'Send the message again later.';

const FIX_TEMPLATE = 'Compare the request with `GET /v2/chatapp/templates`, then send it again.';
const ASK_TO_FIX = 'Your service provider must repair the connection of your number. Then send the message again.';

/** `error_code` of the chat-app channel: errors of WhatsApp's Cloud API under our names. */
const CHATAPP_CODES: readonly ExplainedCodes[] = [
  explained(
    'session_closed',
    'More than 24 hours had passed since the customer last wrote.',
    'Send a template, or wait until the customer writes.',
  ),
  explained(
    'recipient_not_opted_in',
    'The customer was taken off the opt-in list while the template waited.',
    'Send templates only to customers who agreed to receive them.',
  ),
  explained(
    'number_removed',
    'The number that the message was to leave from was taken from the account while it waited.',
    'Send it from another number: `GET /v2/chatapp/numbers` lists those that the account has.',
  ),
  explained(
    'undeliverable',
    'The provider cannot deliver to this number.',
    'Check that the recipient uses the app, has accepted its terms and has a current version.',
  ),
  explained(
    'conversation_refunded',
    'The message that opened its conversation failed at the moment in which this one was accepted.',
    'Send the message again.',
  ),
  explained(
    'marketing_limit_reached',
    'The provider lets this customer get no more marketing messages for now.',
    'Wait at least a day before you try again. Trying at once does not help.',
  ),
  explained(
    'marketing_opted_out',
    'The customer stopped marketing messages of your business.',
    'Send this customer no marketing templates any more.',
  ),
  explained(
    'marketing_not_enabled',
    'Marketing messages are not enabled for your number.',
    'Ask your service provider to enable them, or use a template of another category.',
  ),
  explained(
    'template_not_ready',
    'The template was new, and the provider could not send it yet. Later tries did not help.',
    SEND_LATER,
  ),
  explained(
    'customer_in_experiment',
    'The provider holds marketing messages back from this customer for an experiment.',
    'Nothing helps but another channel: send an SMS.',
  ),
  explained(
    'customer_rate_limited',
    'Too many messages went to this customer in a short time.',
    'Wait some minutes. Put several messages into one.',
  ),
  explained(
    'spam_rate_limited',
    'Customers blocked or reported your messages, so the provider limits your number.',
    'Send less, and only to customers who asked for it. Look at the quality of your templates.',
  ),
  explained(
    'category_limit_reached',
    'The provider found templates of yours in a wrong category, so it lets your account send few for some time.',
    'Correct the categories of your templates. The limit ends by itself.',
  ),
  explained(
    'provider_throttled',
    'Your number sent faster than the provider allows.',
    `${SEND_LATER} Spread large sends over more time.`,
  ),
  explained('provider_unavailable', 'The provider had a fault, and several tries did not help.', SEND_LATER),
  explained(
    'media_unavailable',
    'The provider could not fetch the file.',
    'Check that the address opens without a sign-in, is https, and gives the type and size that are allowed.',
  ),
  explained(
    'customer_blocked',
    'Your business has blocked this customer at the provider.',
    'Unblock the customer at the provider, then send the message again.',
  ),
  explained(
    'country_not_allowed',
    'The provider lets your business send no messages to the country of this number.',
    'Look up at the provider for which countries and trades it allows messages.',
  ),
  explained(
    'number_needed',
    'The provider sends such messages to phone numbers only: templates with a code, for example.',
    'Ask the customer for the number, then send the message to it.',
  ),
  explained('recipient_is_sender', 'The recipient is your own number.', 'Give the number of the customer.'),
  explained(
    'unsupported_message_type',
    'The provider does not take messages of this type.',
    'Send a text, or a template.',
  ),
  explained(
    ['invalid_parameter', 'template_param_count_mismatch', 'template_param_mismatch'],
    'A value of the request does not fit the template.',
    FIX_TEMPLATE,
  ),
  explained('template_not_found', 'The provider has no such template in this language.', FIX_TEMPLATE),
  explained(
    'template_text_too_long',
    'With its values the template is longer than the provider allows.',
    'Shorten the values.',
  ),
  explained(
    'template_policy_violated',
    'The provider finds that the template breaks its rules.',
    'Look up the reason beside the template, then request a corrected one.',
  ),
  explained(
    'template_paused',
    'The provider paused the template because customers disliked it.',
    'Use another template, or wait: a pause takes 3 or 6 hours. Then improve the text.',
  ),
  explained('template_disabled', 'The provider disabled the template for good.', 'Request a new template.'),
  explained(
    'template_flow_unavailable',
    'The flow that the template opens is blocked or slowed down at the provider.',
    'Correct the flow at the provider, or use another template.',
  ),
  explained(
    [
      'provider_token_refused',
      'provider_permission_missing',
      'provider_access_denied',
      'provider_certificate_problem',
      'provider_number_not_registered',
      'provider_number_deleted',
      'provider_address_wrong',
    ],
    'The provider does not accept the login of your number.',
    ASK_TO_FIX,
  ),
  explained(
    ['provider_account_locked', 'provider_policy_block'],
    'The provider locked your business account.',
    'Look into your account at the provider, which gives the reason and takes appeals.',
  ),
  explained(
    'provider_name_not_approved',
    'The provider has not approved the display name of your number, and lets it send nothing until then.',
    'Request the approval of the display name at the provider.',
  ),
  explained(
    'provider_payment_problem',
    'The provider could not charge your business account.',
    'Correct the means of payment at the provider.',
  ),
  explained('provider_refused', 'The provider refused the message without a reason that we know.', NOT_YOURS),
];

/** `error_code` that Harkara itself gives to an SMS, some of them also to chat-app messages. */
const OWN_CODES: readonly ExplainedCodes[] = [
  explained(
    'cancelled',
    'The message had not left when it was cancelled, or when its batch was stopped.',
    'You need do nothing: it was refunded.',
  ),
  explained(
    'validity_expired',
    'The message could not be handed to a carrier before its `valid_until`. It was refunded.',
    'Send it again. Give it a later `valid_until`, and check that your account is not suspended and your template not paused. Promotional messages under DLT leave only in the hours that are allowed.',
  ),
  explained(
    OVERTAKEN,
    'The message had not left when the SMS in its place was due. It does not leave any more.',
    'See what became of the SMS. If that happens often, give messages more time (`fallback.after_seconds`), or ask your service provider for the state of the channel.',
  ),
  explained(
    'unconfirmed',
    'The message was handed over, but nobody answered for it. It may have arrived, so it was not refunded.',
    'Ask the recipient before you send it again: it could arrive twice.',
  ),
  explained(
    'partial',
    'The carrier took some segments of a long message and refused others.',
    'Send the text again, in one segment if possible. The recipient may see a part of the first one.',
  ),
  explained(
    'recipient_opted_out',
    'The recipient wrote STOP while the message waited.',
    'Do not send to this recipient until they write START.',
  ),
  explained(
    'sender_not_registered',
    'The sender ceased to be approved for this route while the message waited.',
    'Ask your service provider for the state of the sender, then send the message again.',
  ),
  explained(
    'template_not_approved',
    'The template ceased to be approved while the message waited.',
    'Look up the reason beside the template, then send with an approved one.',
  ),
  explained(
    'entity_id_missing',
    'Your account had no PE id (principal entity id), which operators demand in India.',
    'Ask your service provider to enter the PE id of your business, then send the message again.',
  ),
  explained('account_suspended', 'The account is suspended.', 'Ask your service provider for the reason.'),
  explained(
    'not_sent',
    'The connection to the carrier was lost before the message was written.',
    `${SEND_LATER} ${NOT_YOURS}`,
  ),
  explained(
    'not_encodable',
    'The text cannot be written in an alphabet that the carrier takes.',
    'Remove unusual characters from the text, then send it again.',
  ),
  explained(
    'sender_unfit',
    'The sender has characters that the carrier does not take.',
    'Use a sender of Latin letters and digits, or ask your service provider for another route.',
  ),
  explained(
    'recipient_unfit',
    'The recipient is not a number that a carrier can dial.',
    'Give the number with its country code, digits only.',
  ),
  explained('too_long', 'The text has more segments than an SMS can have.', 'Shorten the text.'),
];

/** Carriers' answers to an SMS: command_status of submit_sm_resp (SMPP 3.4 §5.1.3), as in `error_code`. */
const CARRIER_CODES: readonly ExplainedCodes[] = [
  explained(
    ['0x0B', '0x33', '0x34', '0x40', '0x50', '0x51'],
    'The carrier does not accept the number of the recipient.',
    'Check that the number exists and has its country code.',
  ),
  explained(
    ['0x0A', '0x48', '0x49'],
    'The carrier does not accept the sender.',
    'Use a sender that is registered with the operators, or ask your service provider which ones are.',
  ),
  explained(
    '0x22',
    'No carrier on the route reaches the network of the recipient.',
    'Ask your service provider for a route to this country or network.',
  ),
  explained(
    ['0x08', '0x14', '0x45', '0x64', '0x67', '0xFE', '0xFF'],
    'The carrier had a fault of its own, and several tries did not help.',
    `${SEND_LATER} ${NOT_YOURS}`,
  ),
  explained('0x58', 'The carrier took no more messages at this rate.', `${SEND_LATER} ${NOT_YOURS}`),
  explained('0x01', 'The carrier finds the text too long.', 'Shorten the text, then send it again.'),
  explained(
    ['0x65', '0x66'],
    'The network of the recipient refused the message for good.',
    'Check the number and the text. Links and words that look like spam are the usual reasons.',
  ),
  explained(
    ['0x61', '0x62'],
    'The carrier does not accept the validity of the message.',
    'Send it again with another `valid_until`, or without one.',
  ),
  explained(
    ['0xC0', '0xC1', '0xC2', '0xC3', '0xC4'],
    'The carrier does not accept a parameter that belongs to the message, for example its DLT ids.',
    'Check the ids of your template and business on the DLT platform. If they are right, tell your service provider.',
  ),
  explained(
    ['0x02', '0x03', '0x04', '0x05', '0x06', '0x07', '0x0C', '0x0D', '0x0E', '0x0F', '0x11', '0x13', '0x15'],
    'The carrier refused the form of our request, or our login.',
    NOT_YOURS,
  ),
  explained(
    ['0x42', '0x43', '0x44', '0x53', '0x54', '0x55', '0x63'],
    'The carrier refused the form of our request.',
    NOT_YOURS,
  ),
];

export const CODE_GROUPS: readonly { readonly heading: string; readonly codes: readonly ExplainedCodes[] }[] = [
  { heading: 'Harkara', codes: OWN_CODES },
  { heading: 'Answers of carriers (SMPP)', codes: CARRIER_CODES },
  { heading: 'DLT scrubbing (India)', codes: SCRUB_RULES },
  { heading: 'Chat-app channel', codes: CHATAPP_CODES },
];

/** Numbers in receipts mean DLT only if the reason says so: other vendors use the same numbers. */
const DLT_REASON = /^DLT\b/;

const NAMED = byCode([...OWN_CODES, ...CHATAPP_CODES, ...CARRIER_CODES]);

type Told = Pick<StoredMessage, 'state'> &
  Partial<Pick<StoredMessage, 'errorCode' | 'errorReason' | 'outcome' | 'closedReason'>> &
  Partial<Pick<ChatMessageDocument, 'heldBack'>>;

/** Why a message is in its state, and what to do. Undefined when all is well or it is still under way as usual. */
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
    return { cause, advice: BY_REASON.get(errorReason) ?? UNEXPLAINED[state].advice };
  }
  const { cause, advice } = UNEXPLAINED[state];
  return { cause: errorCode === undefined ? cause : `${cause} The carrier gave the code ${errorCode}.`, advice };
}

export function dltCodeOf({ errorCode, errorReason }: Pick<Told, 'errorCode' | 'errorReason'>): string | undefined {
  return errorReason !== undefined && DLT_REASON.test(errorReason) ? errorCode : undefined;
}

export function explainCode(code: string): Explanation | undefined {
  return NAMED.get(code);
}

/** The meaning of a counted code. Carriers' own numbers differ; each message has the words of its receipt. */
export function explainCounted(code: string): Explanation {
  return (
    NAMED.get(code) ?? {
      cause: `The code ${code} of a carrier, which means different things.`,
      advice: 'Open one of the messages: its page has the reason in words.',
    }
  );
}

/** Receipt reasons that say no more than the state (workers/smpp/dialect/receipt-dialect.ts). */
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

/**
 * What to do about a failed receipt, by `error_reason`. Codes differ between vendors; the reason comes from the
 * carrier's profile (shared/carriers/receipt-profiles.ts).
 */
const ADVICE: readonly (readonly [advice: string, reasons: readonly string[]])[] = [
  [
    REMOVE_NUMBER,
    [
      'The number does not exist',
      'The number is not valid',
      'The number is disconnected',
      'The number is not in service any more',
      'The number cannot be reached',
      'It could not be delivered to this number',
      'The network does not know the subscriber',
      'The subscriber has no SMS service',
      'The subscriber is not allowed in the network',
      'The phone is not allowed in the network',
      'The subscriber or the phone is not allowed in the network',
      'The number is barred from receiving SMS',
      'The number takes no SMS',
      'The phone cannot take SMS',
      'The phone or the network does not support SMS',
      'The network does not support SMS',
      'The prepaid account of the recipient is empty',
    ],
  ],
  [
    'Send the message again in some hours. If it fails for days, remove the number from your list.',
    [
      'The phone cannot be reached',
      'The phone cannot be reached for now',
      'The phone is switched off',
      'The phone is busy',
      'The phone could not take the message',
      'The message waits for the phone',
      'The memory of the phone is full',
      'The subscriber is roaming',
      'It could not be delivered within six hours',
      'Not delivered within its validity',
    ],
  ],
  [
    `${SEND_LATER} ${NOT_YOURS}`,
    [
      'An error in the network',
      'Data is missing in the network',
      'Unexpected data in the network',
      'The network did not answer in time',
      'It was cancelled at the carrier',
      'Not delivered, without a reason',
      'Not delivered',
      'The operator tells nothing of its end',
      'Too many messages at once',
    ],
  ],
  [
    'Do not send such messages to this number any more. Ask the recipient for consent first.',
    [
      'The recipient takes no such messages (DND)',
      'The recipient did not opt in',
      'The recipient opted out',
      'The recipient barred the sender',
      'The number is not allowed, or the recipient opted out',
      'The recipient is too young',
    ],
  ],
  [
    'Check links, capitals and words that look like spam. Then ask your service provider what the carrier blocks.',
    [
      'Blocked as spam',
      'Blocked by the carrier',
      'Refused for its content',
      'Refused by the network',
      'Rejected by the network',
      'The network refuses it for good',
      'The message is not allowed',
      'A toll-free number sent too much',
      'Too many equal messages to one number',
    ],
  ],
  [
    'Use a sender that is registered with the operators, or ask your service provider which ones are.',
    [
      'The sender is not allowed',
      'The sender is not authorized',
      'The sender is not registered',
      'The sender is not valid',
    ],
  ],
  [
    'Send the text exactly as its template is registered, with values in its variables only.',
    ['The template is not registered', 'The text does not match the template'],
  ],
  ['Shorten the text, then send it again.', ['The text is too long']],
  [
    'Send promotional messages in the hours that are allowed in the country.',
    ['Promotional messages are not allowed at this hour'],
  ],
  [
    'Ask your service provider for a route to this number.',
    [
      'No operator is known for this number',
      'There is no route to this number',
      'The route is denied',
      'The country is not allowed',
      'The number was moved to another network',
      'The number is blocked',
      'The number is on a list of blocked numbers',
      'The numbers of this series are blocked',
    ],
  ],
];

const BY_REASON: ReadonlyMap<string, string> = new Map(
  ADVICE.flatMap(([advice, reasons]) => reasons.map((reason) => [reason, advice] as const)),
);

export const RECEIPT_REASONS: readonly { readonly reason: string; readonly advice: string }[] = [...BY_REASON].map(
  ([reason, advice]) => ({ reason, advice }),
);
