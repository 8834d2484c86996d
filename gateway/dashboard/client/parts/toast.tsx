import { signal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { asProblem } from '../api/problem.ts';
import { Icon } from './icon.tsx';
import { Words } from './words.tsx';

interface Told {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

const SHOWN_MS = 6_000;
const told = signal<readonly Told[]>([]);
const NONE: readonly Told[] = [];
/** The `Toasts` on the page now; the last one shows the toasts. */
const places = signal<readonly string[]>([]);
let ids = 0;

/** Tells that something is done: "Key revoked." Screen readers read it. Errors of a form stay there and are no toasts. */
export function toast(text: string, tone: Told['tone'] = 'good'): void {
  const id = ids++;
  told.value = [...told.value, { id, text, tone }];
  setTimeout(() => {
    told.value = told.value.filter((entry) => entry.id !== id);
  }, SHOWN_MS);
}

/** Tells why an act without a form failed: `act().catch(toastProblem)`. */
export function toastProblem(error: unknown): void {
  const { title, message } = asProblem(error);
  toast(`${title}. ${message}`, 'bad');
}

/**
 * Where they appear: at the end of the page, or in the dialog that was opened last, because what is outside of it is asleep. The
 * live region is there from the start, or its first words would not be read.
 */
export function Toasts() {
  const box = useRef<HTMLDivElement>(null);
  const place = useId();
  useEffect(() => {
    places.value = [...places.value, place];
    return () => {
      places.value = places.value.filter((other) => other !== place);
    };
  }, [place]);
  const shown = places.value.at(-1) === place ? told.value : NONE;
  useEffect(() => {
    if (shown.length === 0) return;
    // Above whatever has been opened since.
    box.current?.togglePopover?.(false);
    box.current?.togglePopover?.(true);
  }, [shown]);
  return (
    <div ref={box} class="toasts" role="status" popover="manual">
      {shown.map(({ id, text, tone }) => (
        <p key={id} class={tone}>
          <Icon name={tone === 'good' ? 'check' : 'warning'} />
          <span>
            <Words text={text} />
          </span>
        </p>
      ))}
    </div>
  );
}
