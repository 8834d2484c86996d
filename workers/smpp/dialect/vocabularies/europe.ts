import type { Vocabulary } from './vocabulary.ts';

export const PSWINCOM: Vocabulary = {
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
};

export const TELIA: Vocabulary = {
  about: 'Telia; its codes come in network_error_code',
  sources: ['Telia, SMPP error codes, as quoted by integrators'],
  errors: {
    '201': 'The number does not exist',
    '202': 'The number is barred from receiving SMS',
    '208': 'The phone cannot be reached',
  },
};

export const MESSENTE: Vocabulary = {
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
};

export const OZEKI: Vocabulary = {
  about: 'Ozeki and SMSCs that refuse with NACK',
  sources: ['voip-sip-sdk.com/p_2628-smpp-error-codes.html'],
  words: { NACK: 'rejected' },
};
