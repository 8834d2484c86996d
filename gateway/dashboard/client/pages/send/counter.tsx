import { planText, roomOf, UNSEEN, unicodeCharacters } from '../../../../../shared/messages/sms-plan.ts';
import { counted } from '../../parts/number.ts';

/** "GSM-7, 142 of 160 characters, 1 segment", and what makes a text dearer. It counts as the gateway does. */
export function Counter({ text }: { readonly text: string }) {
  const plan = planText(text);
  const { encoding, units, segments } = plan;
  const unicode = unicodeCharacters(text);
  return (
    <span role="status">
      {encoding === 'GSM7' ? 'GSM-7' : 'Unicode'}, {units} of {roomOf(plan)} characters, {counted(segments, 'segment')}.
      {unicode.length > 0 && (
        <>
          {' '}
          {unicode.slice(0, SHOWN).map(named).join(' ')} {unicode.length > SHOWN && '… '}
          {unicode.length === 1 ? 'makes' : 'make'} it Unicode: 70 characters in a segment instead of 160.
        </>
      )}
    </span>
  );
}

const SHOWN = 12;

/** The character, or its number where nobody would see it: `U+00A0`. */
function named(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return character.replace(UNSEEN, `U+${code}`);
}
