import type { Vocabulary } from './vocabulary.ts';

/**
 * The errors of 3GPP TS 29.002 (MAP), with the numbers that Infobip publishes and many resellers use. Some other lists differ by
 * one.
 */
const MAP_ERRORS: Readonly<Record<string, string>> = {
  '1': 'The number does not exist',
  '2': 'The number does not exist',
  '3': 'The number does not exist',
  '5': 'The network does not know the subscriber',
  '6': 'The phone cannot be reached',
  '9': 'The subscriber is not allowed in the network',
  '11': 'The subscriber has no SMS service',
  '12': 'The phone is not allowed in the network',
  '13': 'The number is barred from receiving SMS',
  '21': 'The network does not support SMS',
  '27': 'The phone cannot be reached',
  '31': 'The phone is busy',
  '32': 'The phone could not take the message',
  '33': 'The message waits for the phone',
  '34': 'An error in the network',
  '35': 'Data is missing in the network',
  '36': 'Unexpected data in the network',
};

export const GSM: Vocabulary = {
  about: 'GSM/MAP error codes in decimal: Infobip and many resellers',
  sources: ['infobip.com/docs/developer-resources/api-fundamentals/error-code-reference', '3GPP TS 29.002 §17.6.6'],
  errors: MAP_ERRORS,
};

export const TYNTEC: Vocabulary = {
  about: 'GSM/MAP error codes in hexadecimal: tyntec',
  sources: ['tyntec, SMPP error codes', '3GPP TS 29.002 §17.6.6'],
  errors: MAP_ERRORS,
  hexErrors: true,
};

export const INFOBIP: Vocabulary = {
  about: 'Infobip: GSM/MAP error codes, and the names of its own statuses',
  sources: [
    'infobip.com/docs/developer-resources/api-fundamentals/message-status-codes',
    'infobip.com/docs/developer-resources/api-fundamentals/error-code-reference',
  ],
  words: {
    DELIVERED_TO_HANDSET: 'delivered',
    DELIVERED_TO_OPERATOR: 'intermediate',
    PENDING_ACCEPTED: 'intermediate',
    PENDING_ENROUTE: 'intermediate',
    PENDING_WAITING_DELIVERY: 'intermediate',
    UNDELIVERABLE_REJECTED_OPERATOR: 'failed',
    UNDELIVERABLE_NOT_DELIVERED: 'failed',
  },
  errors: MAP_ERRORS,
};
