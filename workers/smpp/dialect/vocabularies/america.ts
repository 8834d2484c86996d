import type { Vocabulary } from './vocabulary.ts';

export const SYNIVERSE: Vocabulary = {
  about: 'Syniverse; its numbers differ from the standard’s',
  sources: ['Syniverse, SMPP delivery receipt states, as quoted in integrators’ public code'],
  words: {
    'DELIVERED-TO-CARRIER': 'intermediate',
    'DELIVERED-TO-OPERATOR': 'intermediate',
    'ACCEPTED-BUFFERED': 'intermediate',
    'UNDELIV-INTERIM': 'intermediate',
    '0': 'delivered',
    '5': 'failed', // DELETED
    '7': 'failed', // UNDELIV
    '8': 'expired',
    '23': 'rejected',
    '35': 'rejected',
    '999': 'failed', // UNKNOWN
  },
};

export const TWILIO: Vocabulary = {
  about: 'Twilio SMPP',
  sources: ['twilio.com/docs/smpp/error-codes'],
  errors: {
    '1': 'The phone cannot be reached',
    '2': 'The memory of the phone is full',
    '3': 'The phone could not take the message',
    '4': 'The phone cannot take SMS',
    '5': 'The number does not exist',
    '6': 'The subscriber is not allowed in the network',
    '7': 'The subscriber has no SMS service',
    '8': 'The phone is not allowed in the network',
    '9': 'The number is barred from receiving SMS',
    '10': 'The network does not support SMS',
    '11': 'The phone is busy',
    '12': 'An error in the network',
  },
};

export const FLOWROUTE: Vocabulary = {
  about: 'Flowroute (BCM One)',
  sources: ['support.bcmone.com/flowroute-support/docs/delivery-receipt-response-codes'],
  errors: {
    '1005': 'Rejected by the network',
    '1006': 'Not delivered within its validity',
    '1007': 'Not delivered',
    '1008': 'The network refuses it for good',
    '1103': 'The sender is not authorized',
    '1106': 'There is no route to this number',
    '1109': 'The route is denied',
    '1110': 'The recipient opted out',
    '1116': 'The number takes no SMS',
    '1150': 'Blocked as spam',
    '1152': 'Blocked as spam',
    '1160': 'A toll-free number sent too much',
  },
};

export const TELESIGN: Vocabulary = {
  about: 'Telesign; the first segment has the id of the message',
  sources: ['Telesign, SMPP error codes'],
  errors: { '4A6': 'Blocked by the carrier', '4C2': 'The sender is not allowed' },
};

export const BANDWIDTH: Vocabulary = {
  about: 'Bandwidth: ACCEPTD is the last word where a network reports nothing else',
  sources: ['Bandwidth, SMPP delivery receipts: ACCEPTD is a success'],
  words: { ACCEPTD: 'delivered', ACCEPTED: 'delivered' },
  alone: true,
};
