export const WORD_MEANINGS = [
  'delivered',
  'failed',
  'expired',
  'rejected',
  'intermediate',
  // The end is not known. The message fails after an hour, unless a better receipt comes.
  'hold',
  // Kept for the timeline only.
  'ignore',
] as const;
export type WordMeaning = (typeof WORD_MEANINGS)[number];

/**
 * Which receipts decide about a message of several segments. `perPart`: each about its own segment. `first`, `last`:
 * that of the first or last segment about all. `any`: the first that comes about all.
 */
export const RECEIPT_PARTS = ['perPart', 'first', 'last', 'any'] as const;
export type ReceiptParts = (typeof RECEIPT_PARTS)[number];

/** Receipts of one family of carriers, beyond the standard; settings/receipts.ts may override parts. */
export interface Profile {
  /** For `ops carrier receipt-profiles`. */
  readonly about: string;
  /** Pages, or receipts that we have seen. */
  readonly sources: readonly string[];
  /** The words, in capitals. A number as `stat:` is a word too, without leading zeros. */
  readonly words?: Readonly<Record<string, WordMeaning>>;
  /** For receipts whose `err:` says nothing. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** Other carriers give these words another meaning, so the other profiles do not know them. */
  readonly alone?: true;
  /** By codes of `err:`, in capitals and without leading zeros; the meaning for people. */
  readonly errors?: Readonly<Record<string, string>>;
  /** The table has the codes in decimal, but the carrier writes them in hexadecimal. */
  readonly hexErrors?: true;
  /** The meaning of a word that no table has. Absent: it changes nothing (`ignore`). */
  readonly otherWord?: WordMeaning & ('failed' | 'hold');
  /** Absent: each segment has a receipt of its own. */
  readonly parts?: ReceiptParts;
}

/** 3GPP TS 29.002 (MAP), with the numbers of Infobip and many resellers. Some other lists differ by one. */
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

/** By the value of `--receipt-profile`. Every profile knows the words of `generic`; its own come first. */
const TABLE = {
  generic: {
    about: 'SMPP 3.4 Appendix B, and the words on which all vendors here agree',
    sources: ['SMPP 3.4 §5.2.28 and Appendix B', 'SMPP 5.0 §4.7.15'],
    words: {
      // Values of message_state (§5.2.28). 0 and 9 are from SMPP 5.0. Textlocal and others write these numbers as `stat:`.
      '0': 'intermediate', // SCHEDULED
      '1': 'intermediate', // ENROUTE
      '2': 'delivered', // DELIVERED
      '3': 'expired', // EXPIRED
      '4': 'failed', // DELETED
      '5': 'failed', // UNDELIVERABLE
      '6': 'intermediate', // ACCEPTED
      '7': 'failed', // UNKNOWN
      '8': 'rejected', // REJECTED
      '9': 'failed', // SKIPPED
    },
  },
  '8x8': {
    about: '8x8 (Wavecell)',
    sources: ['developer.8x8.com/connect/docs/delivery-receipts-error-codes'],
    errors: {
      '1': 'The phone cannot be reached',
      '2': 'Refused for its content',
      '7': 'Not delivered',
      '8': 'Refused by the network',
      '11': 'Too many messages at once',
      '13': 'The subscriber or the phone is not allowed in the network',
      '15': 'The number is not valid',
      '19': 'The sender is not valid',
      '21': 'The memory of the phone is full',
      '23': 'An error in the network',
      '24': 'The recipient is too young',
      '26': 'The number is barred from receiving SMS',
      '30': 'The number was moved to another network',
      '32': 'The subscriber is roaming',
      '33': 'There is no route to this number',
      '36': 'Not delivered within its validity',
      '37': 'The phone or the network does not support SMS',
      '43': 'Blocked as spam',
      '45': 'The phone is busy',
      '46': 'The phone cannot be reached',
      '47': 'The phone cannot be reached for now',
      '48': 'An error in the network',
      '51': 'The network did not answer in time',
    },
  },
  bandwidth: {
    about: 'Bandwidth: ACCEPTD is the last word where a network reports nothing else',
    sources: ['Bandwidth, SMPP delivery receipts: ACCEPTD is a success'],
    words: { ACCEPTD: 'delivered', ACCEPTED: 'delivered' },
    alone: true,
  },
  cmpp: {
    about: 'Chinese gateways: four digits behind the letters of the part that failed, like MK:0004',
    sources: ['CMPP, stat of a status report: blog.csdn.net/softmaker_tao/article/details/7022417'],
    // All other codes are failures.
    otherWord: 'failed',
  },
  flowroute: {
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
  },
  gsm: {
    about: 'GSM/MAP error codes in decimal: Infobip and many resellers',
    sources: ['infobip.com/docs/developer-resources/api-fundamentals/error-code-reference', '3GPP TS 29.002 §17.6.6'],
    errors: MAP_ERRORS,
  },
  india: {
    about: 'words of Indian aggregators for numbers that take no promotion, or that they block',
    sources: [
      'No page of a vendor lists the bare words. They are read as Kaleyra’s DNDNUMB (kaleyra.ts) and as the codes 9 (NDNC) and 17 (blocked) of msg91.com/help',
    ],
    words: { DND: 'rejected', NDNC: 'rejected', BLOCKED: 'rejected', BLOCK: 'rejected' },
    reasons: {
      DND: 'The recipient takes no such messages (DND)',
      NDNC: 'The recipient takes no such messages (DND)',
      BLOCKED: 'The number is blocked',
      BLOCK: 'The number is blocked',
    },
  },
  infobip: {
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
  },
  javna: {
    about: 'Javna',
    sources: ['Javna, SMPP error codes'],
    errors: { '69': 'The number is disconnected', '999': 'The recipient takes no such messages (DND)' },
  },
  kaleyra: {
    about: 'Kaleyra (Solutions Infini)',
    sources: [
      'globalmessaging.kaleyra.com/support/solutions/articles/3000068963',
      'developers.kaleyra.io/docs/sms-status-and-status-trace-codes',
      'developers.kaleyra.io/docs/sms-delivery-failure',
    ],
    words: {
      DNDNUMB: 'rejected',
      'DND-NUMB': 'rejected',
      'CON-DND': 'rejected',
      'NOT-OPTIN': 'rejected',
      'OPT-OUT': 'rejected',
      BLACKLIST: 'rejected',
      SPAM: 'rejected',
      'SNDRID-NOT-ALLOTED': 'rejected',
      'SENDER-ID-NOT-FOUND': 'rejected',
      'TEMPLATE-NOT-FOUND': 'rejected',
      'INV-TEMPLATE-MATCH': 'rejected',
      'TIME-OUT-PROM': 'rejected',
      'NO-CREDITS': 'rejected',
      'INF-CREDIT': 'rejected',
      'OUTPUT-REJ': 'rejected',
      'SERIES-BLOCK': 'rejected',
      'SERIES-BLK': 'rejected',
      'NOT-ALLOWED': 'rejected',
      NOTALLOWED: 'rejected',
      'MOB-NOTALLOWED': 'rejected',
      'NUM-LIMIT': 'rejected',
      'MAX-LIMIT': 'rejected',
      'NOT-SENT': 'rejected',
      'SUBMIT-FAIL': 'rejected',
      'KLR-INV-NUMBER': 'rejected',
      'INV-MOB-PATTRN': 'rejected',
      'ABSENT-SUB': 'failed',
      'MOB-OFF': 'failed',
      'HANDSET-BUSY': 'failed',
      MEMEXEC: 'failed',
      'MEM-EXEC': 'failed',
      'HANDSET-ERR': 'failed',
      'NET-ERR': 'failed',
      'SERVER-ERR': 'failed',
      'INVALID-SUB': 'failed',
      'INV-NUMBER': 'failed',
      BARRED: 'failed',
      'NO-DLR-OPTR': 'hold',
      QUEUED: 'intermediate',
    },
    reasons: {
      DNDNUMB: 'The recipient takes no such messages (DND)',
      'DND-NUMB': 'The recipient takes no such messages (DND)',
      'CON-DND': 'The recipient takes no such messages (DND)',
      'NOT-OPTIN': 'The recipient did not opt in',
      'OPT-OUT': 'The recipient opted out',
      'OUTPUT-REJ': 'The recipient opted out',
      BLACKLIST: 'The number is on a list of blocked numbers',
      SPAM: 'Blocked as spam',
      'SNDRID-NOT-ALLOTED': 'The sender is not allowed',
      'SENDER-ID-NOT-FOUND': 'The sender is not registered',
      'TEMPLATE-NOT-FOUND': 'The template is not registered',
      'INV-TEMPLATE-MATCH': 'The text does not match the template',
      'TIME-OUT-PROM': 'Promotional messages are not allowed at this hour',
      'SERIES-BLOCK': 'The numbers of this series are blocked',
      'SERIES-BLK': 'The numbers of this series are blocked',
      'NOT-ALLOWED': 'The country is not allowed',
      NOTALLOWED: 'The country is not allowed',
      'MAX-LIMIT': 'The text is too long',
      'KLR-INV-NUMBER': 'The number is not valid',
      'INV-MOB-PATTRN': 'The number is not valid',
      'INV-NUMBER': 'The number is not valid',
      'INVALID-SUB': 'The number does not exist',
      'ABSENT-SUB': 'The phone cannot be reached',
      'MOB-OFF': 'The phone is switched off',
      'HANDSET-BUSY': 'The phone is busy',
      MEMEXEC: 'The memory of the phone is full',
      'MEM-EXEC': 'The memory of the phone is full',
      'HANDSET-ERR': 'The phone could not take the message',
      'NET-ERR': 'An error in the network',
      BARRED: 'The number is barred from receiving SMS',
      'NO-DLR-OPTR': 'The operator tells nothing of its end',
    },
    errors: {
      '1': 'The number does not exist',
      '3': 'The phone cannot be reached',
      '5': 'The number is barred from receiving SMS',
      '10': 'The phone cannot be reached',
      '13': 'The phone is switched off',
    },
    otherWord: 'failed',
  },
  messente: {
    about: 'Messente',
    sources: ['support.messente.com/article/137-delivery-reports'],
    words: { NACK: 'rejected' },
    errors: {
      '1': 'It could not be delivered to this number',
      '2': 'It could not be delivered within six hours',
      '3': 'The number is not valid',
      '5': 'No operator is known for this number',
      '6': 'Too many equal messages to one number',
      '7': 'The sender is not allowed',
    },
  },
  ozeki: {
    about: 'Ozeki and SMSCs that refuse with NACK',
    sources: ['voip-sip-sdk.com/p_2628-smpp-error-codes.html'],
    words: { NACK: 'rejected' },
  },
  pswincom: {
    about: 'PSWinCom (LINK Mobility)',
    sources: ['wiki.pswin.com/Delivery-Report-Status.ashx'],
    words: {
      BARRED: 'failed',
      BARREDA: 'failed',
      ZEROBAL: 'failed',
      NULL: 'hold',
    },
    reasons: {
      BARRED: 'The number is barred from receiving SMS',
      BARREDA: 'The recipient is too young',
      ZEROBAL: 'The prepaid account of the recipient is empty',
      NULL: 'The operator tells nothing of its end',
    },
    otherWord: 'hold',
  },
  'sms-central': {
    about: 'SMS Central (Australia)',
    sources: ['smscentral.com.au/sms-api/smpp/receive-dlrs'],
    words: { NOCRED: 'rejected', SYSERR: 'failed' },
  },
  smsportal: {
    about: 'SMSPortal (South Africa)',
    sources: ['docs.smsportal.com/docs/delivery-statuses'],
    words: {
      BLIST: 'rejected',
      NOROUTE: 'rejected',
      CANCELLED: 'failed',
      SUBMITD: 'intermediate',
      STAGED: 'intermediate',
    },
    reasons: {
      BLIST: 'The number is on a list of blocked numbers',
      NOROUTE: 'There is no route to this number',
      CANCELLED: 'It was cancelled at the carrier',
    },
  },
  syniverse: {
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
    otherWord: 'hold',
  },
  telesign: {
    about: 'Telesign; the first segment has the id of the message',
    sources: ['Telesign, SMPP error codes'],
    errors: { '4A6': 'Blocked by the carrier', '4C2': 'The sender is not allowed' },
    parts: 'first',
  },
  telia: {
    about: 'Telia; its codes come in network_error_code',
    sources: ['Telia, SMPP error codes, as quoted by integrators'],
    errors: {
      '201': 'The number does not exist',
      '202': 'The number is barred from receiving SMS',
      '208': 'The phone cannot be reached',
    },
  },
  twilio: {
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
  },
  tyntec: {
    about: 'GSM/MAP error codes in hexadecimal: tyntec',
    sources: ['tyntec, SMPP error codes', '3GPP TS 29.002 §17.6.6'],
    errors: MAP_ERRORS,
    hexErrors: true,
  },
  vonage: {
    about: 'Vonage (Nexmo)',
    sources: ['Vonage, support article 204014733'],
    errors: {
      '1': 'Not delivered, without a reason',
      '2': 'The phone cannot be reached',
      '3': 'The number is not in service any more',
      '4': 'The recipient barred the sender',
      '5': 'The number was moved to another network',
      '6': 'Blocked as spam',
      '7': 'The phone is busy',
      '8': 'An error in the network',
      '9': 'The number is not allowed, or the recipient opted out',
      '10': 'The message is not allowed',
      '11': 'There is no route to this number',
      '12': 'The number cannot be reached',
      '13': 'The recipient is too young',
      '14': 'Blocked by the carrier',
    },
  },
  yo: {
    about: 'Yo! (Uganda): stat:0 is delivered',
    sources: ['Vumi’s transports for Yo! (praekeltfoundation/vumi)'],
    words: { '0': 'delivered' },
  },
} as const satisfies Readonly<Record<string, Profile>>;

export type ReceiptProfile = keyof typeof TABLE;
export const PROFILES: Readonly<Record<ReceiptProfile, Profile>> = TABLE;
