import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { useFieldError } from './form.tsx';
import { Words } from './words.tsx';

export interface FieldFrameProps {
  /** The member of the request: errors of the gateway find the field by it. */
  readonly name: string;
  readonly label: string;
  /** What to enter, before anything is wrong. */
  readonly hint?: ComponentChildren;
  readonly optional?: boolean;
}

interface Described {
  readonly id: string;
  readonly name: string;
  readonly 'aria-invalid'?: true;
  readonly 'aria-describedby'?: string;
}

interface FrameProps extends FieldFrameProps {
  readonly children: (described: Described) => ComponentChildren;
}

/** Label, hint and error around an input, tied to it. */
export function FieldFrame({ name, label, hint, optional = false, children }: FrameProps) {
  const id = useId();
  const error = useFieldError(name);
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional && <span class="soft"> (optional)</span>}
      </label>
      {children({
        id,
        name,
        ...(error === undefined ? {} : { 'aria-invalid': true }),
        ...(described === '' ? {} : { 'aria-describedby': described }),
      })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          <Words text={error} />
        </p>
      )}
    </div>
  );
}

type Inputs = 'text' | 'email' | 'password' | 'url' | 'tel' | 'search' | 'number' | 'datetime-local' | 'date' | 'time';

interface FieldProps extends FieldFrameProps {
  readonly type?: Inputs;
  /** With `onInput` the caller holds the value; without, `initial` is where it begins. */
  readonly value?: string;
  readonly initial?: string;
  readonly onInput?: (value: string) => void;
  readonly placeholder?: string;
  readonly autoComplete?: JSX.IntrinsicElements['input']['autoComplete'];
  readonly inputMode?: 'numeric' | 'tel' | 'email' | 'url';
  readonly mono?: boolean;
  /** What is offered while one types; others may be typed. */
  readonly offers?: readonly string[];
}

/** One line of text. */
export function Field(props: FieldProps) {
  const { type = 'text', value, initial, onInput, placeholder, autoComplete, inputMode, mono, offers = [] } = props;
  return (
    <FieldFrame {...props}>
      {(described) => (
        <>
          <input
            {...described}
            // Preact's types want one literal type, to check the role.
            type={type as 'text'}
            {...(value === undefined ? { defaultValue: initial ?? '' } : { value })}
            onInput={(event) => onInput?.(event.currentTarget.value)}
            placeholder={placeholder}
            autoComplete={autoComplete ?? 'off'}
            inputMode={inputMode}
            class={mono ? 'mono' : undefined}
            spellcheck={false}
            list={offers.length > 0 ? `${described.id}-list` : undefined}
          />
          {offers.length > 0 && (
            <datalist id={`${described.id}-list`}>
              {offers.map((offer) => (
                <option key={offer} value={offer} />
              ))}
            </datalist>
          )}
        </>
      )}
    </FieldFrame>
  );
}

interface TextAreaProps extends FieldFrameProps {
  readonly value?: string;
  readonly initial?: string;
  readonly onInput?: (value: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
}

/** Several lines of text. */
export function TextArea(props: TextAreaProps) {
  const { value, initial, onInput, rows = 4, placeholder } = props;
  return (
    <FieldFrame {...props}>
      {(described) => (
        <textarea
          {...described}
          rows={rows}
          {...(value === undefined ? { defaultValue: initial ?? '' } : { value })}
          onInput={(event) => onInput?.(event.currentTarget.value)}
          placeholder={placeholder}
        />
      )}
    </FieldFrame>
  );
}

interface SelectProps extends FieldFrameProps {
  /** Values with their words. */
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly value?: string;
  readonly initial?: string;
  readonly onInput?: (value: string) => void;
}

export function Select(props: SelectProps) {
  const { options, value, initial, onInput } = props;
  return (
    <FieldFrame {...props}>
      {(described) => (
        <select {...described} onInput={(event) => onInput?.(event.currentTarget.value)}>
          {options.map(([option, label]) => (
            <option key={option} value={option} selected={option === (value ?? initial)}>
              {label}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}
