import { planText, type TextForm } from '../../../shared/messages/sms-plan.ts';
import { segmentText } from '../text/segment.ts';

/**
 * Characters that writing programs insert, with similar ones of the GSM alphabet, as in Twilio's Smart Encoding
 * (https://www.twilio.com/docs/messaging/services/smart-encoding-char-list). ZWJ and ZWNJ are not in the list, because Indic
 * scripts and emoji need them.
 */
const SUBSTITUTES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "'": '‘’‚‛′`´',
    '"': '“”„‟″«»',
    '-': '–—‐‑‒―−•·',
    ' ': '\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\t',
    '...': '…',
    TM: '™',
    '(R)': '®',
    '(C)': '©',
    Rs: '₹',
    c: 'ç',
    a: 'áâã',
    e: 'êë',
    i: 'íîï',
    o: 'óôõ',
    u: 'úû',
    y: 'ýÿ',
    '': '\ufeff\u00ad\u200b',
  }).flatMap(([similar, characters]) => [...characters].map((character) => [character, similar] as const)),
);

/**
 * The text with similar characters, if that avoids UCS-2 in the carrier's form. All or nothing: one character left over makes the
 * text UCS-2 anyway.
 */
export function substituted(text: string, form: TextForm): string {
  if (planText(text).encoding === 'GSM7') return text;
  const similar = Array.from(text, (character) => SUBSTITUTES.get(character) ?? character).join('');
  // A text of zero-width characters only would become empty, and carriers refuse an empty text.
  return similar !== '' && segmentText(similar, form).encoding === 'GSM7' ? similar : text;
}
