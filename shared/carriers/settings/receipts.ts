import { PROFILES, RECEIPT_PARTS, type ReceiptProfile, WORD_MEANINGS, type WordMeaning } from '../receipt-profiles.ts';
import { listOf, matching, oneOf, type Shape, setting, type Values, yesNo } from './setting.ts';

export interface ReceiptWord {
  readonly word: string;
  readonly meaning: WordMeaning;
}

const receiptWord: Shape<ReceiptWord> = {
  value: 'WORD=MEANING',
  form: `like DND=rejected, a word or number of \`stat:\` and one of ${WORD_MEANINGS.join(', ')}`,
  parse: (text) => {
    const [, word, name] = /^([A-Za-z0-9][A-Za-z0-9_:./-]{0,39})=([a-z]+)$/.exec(text) ?? [];
    const meaning = WORD_MEANINGS.find((one) => one === name);
    return word === undefined || meaning === undefined ? undefined : { word, meaning };
  },
  show: ({ word, meaning }) => `${word}=${meaning}`,
};

const MAX_WORDS = 200;

/** How to read the carrier's delivery receipts (workers/smpp/dialect). */
export const RECEIPTS = {
  receiptProfile: setting(
    oneOf(Object.keys(PROFILES) as ReceiptProfile[]), // the table's own keys
    'generic',
    'whose words and codes its receipts have (`carrier receipt-profiles`)',
  ),
  receiptWord: setting(
    listOf(receiptWord, MAX_WORDS),
    [],
    'what its own words of `stat:` mean, before those of the profile',
  ),
  receiptFailover: setting(
    listOf(matching('CODE', 'an error of its receipts, as `error_code` shows it', /^[A-Za-z0-9_.-]{1,16}$/), MAX_WORDS),
    [],
    'errors of its receipts that surely mean: never delivered, and never will be. Such a message goes once more, by the next carrier, where its route says so (docs/routing.md)',
  ),
  receiptParts: setting(
    oneOf(['profile', ...RECEIPT_PARTS]),
    'profile',
    'which receipts decide about a long text: perPart, first or last (that segment’s about all), any, or as the profile says',
  ),
  plainReceipts: setting(
    yesNo,
    false,
    'take receipts of esm_class 0 too, where the id is known and the source is the recipient',
  ),
};

export type ReceiptSettings = Values<typeof RECEIPTS>;
