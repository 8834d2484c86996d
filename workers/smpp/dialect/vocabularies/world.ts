import type { Vocabulary } from './vocabulary.ts';

export const VONAGE: Vocabulary = {
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
};

export const SMS_CENTRAL: Vocabulary = {
  about: 'SMS Central (Australia)',
  sources: ['smscentral.com.au/sms-api/smpp/receive-dlrs'],
  words: { NOCRED: 'rejected', SYSERR: 'failed' },
};

export const SMSPORTAL: Vocabulary = {
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
};

export const YO: Vocabulary = {
  about: 'Yo! (Uganda): stat:0 is delivered',
  sources: ['Vumi’s transports for Yo! (praekeltfoundation/vumi)'],
  words: { '0': 'delivered' },
};

export const CMPP: Vocabulary = {
  about: 'Chinese gateways: four digits behind the letters of the part that failed, like MK:0004',
  sources: ['CMPP, stat of a status report: blog.csdn.net/softmaker_tao/article/details/7022417'],
};

export const EIGHT_BY_EIGHT: Vocabulary = {
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
};
