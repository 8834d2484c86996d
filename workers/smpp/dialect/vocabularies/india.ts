import type { Vocabulary } from './vocabulary.ts';

export const INDIA: Vocabulary = {
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
};

export const JAVNA: Vocabulary = {
  about: 'Javna',
  sources: ['Javna, SMPP error codes'],
  errors: { '69': 'The number is disconnected', '999': 'The recipient takes no such messages (DND)' },
};
