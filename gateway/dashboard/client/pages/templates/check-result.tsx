import { useEffect, useState } from 'preact/hooks';
import { post } from '../../api/http.ts';
import { counted, number } from '../../parts/number.ts';
import { TEMPLATES_PATH, type TemplateCheck } from './template.ts';

/** Typing goes on; the text is checked when it rests. */
const REST_MS = 300;

/** What a text would be as a template, said again whenever the typing rests. */
export function CheckResult({ content }: { readonly content: string }) {
  const [check, setCheck] = useState<TemplateCheck>();
  useEffect(() => {
    if (content === '') {
      setCheck(undefined);
      return;
    }
    let over = false;
    const timer = setTimeout(() => {
      post<TemplateCheck>(`${TEMPLATES_PATH}/check`, { content }).then(
        (found) => {
          if (!over) setCheck(found);
        },
        () => {}, // The request itself says what is wrong.
      );
    }, REST_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [content]);
  return (
    <div class="check" role="status">
      {check === undefined ? (
        <span class="soft">Slots and segments are counted as you type.</span>
      ) : (
        <Found of={check} />
      )}
    </div>
  );
}

function Found({ of }: { readonly of: TemplateCheck }) {
  const { shortest, longest } = of.segments;
  const segments = shortest === longest ? number(shortest) : `${shortest} to ${longest}`;
  return (
    <>
      <p>
        {number(of.characters)}/2,000 characters · {of.encoding} · {segments} segment{longest === 1 ? '' : 's'} ·{' '}
        {counted(of.slots.length, 'slot')}
      </p>
      {of.slots.map(({ takes, longest: most }, i) => (
        <p class="soft" key={i}>
          Slot {i + 1}: {takes}, at most {most} characters
        </p>
      ))}
      {of.problems.map(({ at, detail }) => (
        <p class="error" key={`${at} ${detail}`}>
          {detail}
        </p>
      ))}
    </>
  );
}
