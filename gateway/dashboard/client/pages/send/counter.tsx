import { planText, roomOf, unicodeCharacters } from '../../../../../shared/sms/plan.ts';
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
          {unicode.slice(0, SHOWN).join(' ')} {unicode.length > SHOWN && '… '}
          {unicode.length === 1 ? 'makes' : 'make'} it Unicode: 70 characters in a segment instead of 160.
        </>
      )}
    </span>
  );
}

const SHOWN = 12;
