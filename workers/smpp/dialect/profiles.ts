import type { OtherWord, ReceiptParts, ReceiptProfile } from '../../../shared/carriers/settings/receipts.ts';
import { BANDWIDTH, FLOWROUTE, SYNIVERSE, TELESIGN, TWILIO } from './vocabularies/america.ts';
import { MESSENTE, OZEKI, PSWINCOM, TELIA } from './vocabularies/europe.ts';
import { GSM, INFOBIP, TYNTEC } from './vocabularies/gsm.ts';
import { INDIA, JAVNA } from './vocabularies/india.ts';
import { KALEYRA } from './vocabularies/kaleyra.ts';
import { STANDARD } from './vocabularies/standard.ts';
import type { Vocabulary } from './vocabularies/vocabulary.ts';
import { CMPP, EIGHT_BY_EIGHT, SMS_CENTRAL, SMSPORTAL, VONAGE, YO } from './vocabularies/world.ts';

/**
 * How to read the receipts of a kind of carriers. Each carrier names one profile and may override parts of it
 * (shared/carriers/settings/receipts.ts).
 */
export interface Profile {
  readonly vocabulary: Vocabulary;
  /** The meaning of a word that no table has. */
  readonly otherWord: OtherWord;
  readonly parts: ReceiptParts;
}

/** A profile as most carriers have it: an unknown word changes nothing, and each segment has a receipt of its own. */
function usual(vocabulary: Vocabulary, differs: Partial<Profile> = {}): Profile {
  return { vocabulary, otherWord: 'ignore', parts: 'perPart', ...differs };
}

export const PROFILES: Readonly<Record<ReceiptProfile, Profile>> = {
  generic: usual(STANDARD),
  '8x8': usual(EIGHT_BY_EIGHT),
  bandwidth: usual(BANDWIDTH),
  // Carriers with these words use all other codes for failures only.
  cmpp: usual(CMPP, { otherWord: 'failed' }),
  flowroute: usual(FLOWROUTE),
  gsm: usual(GSM),
  india: usual(INDIA),
  infobip: usual(INFOBIP),
  javna: usual(JAVNA),
  kaleyra: usual(KALEYRA, { otherWord: 'failed' }),
  messente: usual(MESSENTE),
  ozeki: usual(OZEKI),
  pswincom: usual(PSWINCOM, { otherWord: 'hold' }),
  'sms-central': usual(SMS_CENTRAL),
  smsportal: usual(SMSPORTAL),
  syniverse: usual(SYNIVERSE, { otherWord: 'hold' }),
  telesign: usual(TELESIGN, { parts: 'first' }),
  telia: usual(TELIA),
  twilio: usual(TWILIO),
  tyntec: usual(TYNTEC),
  vonage: usual(VONAGE),
  yo: usual(YO),
};

/** The words of all vocabularies, without numbers, because each vendor numbers in its own way. All profiles know these words. */
export const COMMON = common();

function common(): Required<Pick<Vocabulary, 'words' | 'reasons'>> {
  const shared = Object.values(PROFILES).flatMap(({ vocabulary }) => (vocabulary.alone === true ? [] : [vocabulary]));
  return {
    words: Object.fromEntries(
      shared.flatMap(({ words = {} }) => Object.entries(words).filter(([word]) => !/^\d+$/.test(word))),
    ),
    reasons: Object.assign({}, ...shared.map(({ reasons }) => reasons)),
  };
}
