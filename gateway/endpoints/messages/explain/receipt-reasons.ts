import { NOT_YOURS, REMOVE_NUMBER, SEND_LATER } from './explanation.ts';

/**
 * What to do about a receipt's failure, by `error_reason`. Each vendor numbers its errors in its own way, so their codes alone
 * mean nothing. The reason is what the carrier's vocabulary says of a code (workers/smpp/dialect/vocabularies).
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

/** Undefined for a reason that is not in the list, for example one that an operator's setting gives. */
export function adviceOn(reason: string): string | undefined {
  return BY_REASON.get(reason);
}

/** All reasons with their advice, for the documentation. */
export const RECEIPT_REASONS: readonly { readonly reason: string; readonly advice: string }[] = [...BY_REASON].map(
  ([reason, advice]) => ({ reason, advice }),
);
