import { type ComponentChildren, createContext, type JSX } from 'preact';
import { useContext, useId, useState } from 'preact/hooks';
import type { FieldError } from '../api/http.ts';
import { Words } from './value.tsx';

export const Errors = createContext<readonly FieldError[]>([]);

/** The gateway's error about this field or its members. */
export function useFieldError(name: string): string | undefined {
  const of = useContext(Errors).filter(({ field }) => belongs(field, name));
  return of.length === 0 ? undefined : of.map(({ detail }) => detail).join(' ');
}

/** The thing whose members are the fields' initial values. */
export const Shown = createContext<unknown>(undefined);

/** The member of `Shown` with this name; nested as `billing.name`. */
function useShown(name: string): unknown {
  const of = (thing: unknown, member: string) =>
    (thing as Readonly<Record<string, unknown>> | null | undefined)?.[member]; // An object of the API.
  return name.split('.').reduce(of, useContext(Shown));
}

/** `to[3]` and `header.text` belong to `to` and `header`, unless the form has a field of exactly that name. */
export function belongs(field: string, name: string): boolean {
  return field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`);
}

export interface FieldFrameProps {
  /** The member of the request, by which errors and initial values (the form's `of`) are found. */
  readonly name: string;
  readonly label: string;
  readonly optional?: boolean;
  /** Hint. */
  readonly children?: ComponentChildren;
}

interface Described {
  readonly id: string;
  readonly name: string;
  readonly 'aria-invalid'?: true;
  readonly 'aria-describedby'?: string;
}

interface FrameProps extends FieldFrameProps {
  readonly input: (described: Described) => ComponentChildren;
}

export function FieldFrame({ name, label, optional = false, children: hint, input }: FrameProps) {
  const id = useId();
  const error = useFieldError(name);
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional && <span class="soft"> (optional)</span>}
      </label>
      {input({
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

interface FieldProps extends Begun {
  readonly type?: Inputs;
  /** With `onInput` the caller holds the value. */
  readonly value?: string;
  readonly onInput?: (value: string) => void;
  readonly placeholder?: string;
  readonly autoComplete?: JSX.IntrinsicElements['input']['autoComplete'];
  readonly inputMode?: 'numeric' | 'tel' | 'email' | 'url';
  readonly mono?: boolean;
  /** Suggestions; other values may be typed. */
  readonly offers?: readonly string[];
}

export function Field(props: FieldProps) {
  const { type = 'text', value, onInput, placeholder, autoComplete, inputMode, mono, offers = [] } = props;
  const initial = useInitial(props, ', ');
  return (
    <FieldFrame
      {...props}
      input={(described) => (
        <>
          <input
            {...described}
            // Preact's types want one literal type for checking the role.
            type={type as 'text'}
            {...(value === undefined ? { defaultValue: initial } : { value })}
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
    />
  );
}

/** The given initial value, or the member of this name in the form's `of`; list entries are joined by `between`. */
function useInitial({ name, initial }: Begun, between: string): string {
  const shown = useShown(name);
  return initial ?? (Array.isArray(shown) ? shown.join(between) : String(shown ?? ''));
}

interface Begun extends FieldFrameProps {
  readonly initial?: string;
}

interface TextAreaProps extends Begun {
  readonly value?: string;
  readonly onInput?: (value: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
}

export function TextArea(props: TextAreaProps) {
  const { value, onInput, rows = 4, placeholder } = props;
  const initial = useInitial(props, '\n');
  return (
    <FieldFrame
      {...props}
      input={(described) => (
        <textarea
          {...described}
          rows={rows}
          {...(value === undefined ? { defaultValue: initial } : { value })}
          onInput={(event) => onInput?.(event.currentTarget.value)}
          placeholder={placeholder}
        />
      )}
    />
  );
}

interface SelectProps extends Begun {
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly value?: string;
  readonly onInput?: (value: string) => void;
}

export function Select(props: SelectProps) {
  const { options, value, onInput } = props;
  const initial = useInitial(props, '');
  return (
    <FieldFrame
      {...props}
      input={(described) => (
        <select {...described} onInput={(event) => onInput?.(event.currentTarget.value)}>
          {options.map(([option, label]) => (
            <option key={option} value={option} selected={option === (value ?? initial)}>
              {label}
            </option>
          ))}
        </select>
      )}
    />
  );
}

interface CheckboxProps {
  readonly name: string;
  readonly label: ComponentChildren;
  readonly value?: string;
  readonly initial?: boolean;
  /** With `onChange` the caller holds the state. */
  readonly checked?: boolean;
  readonly onChange?: (checked: boolean) => void;
  /** Hint. */
  readonly children?: ComponentChildren;
}

export function Checkbox({ name, label, value = 'on', initial, checked, onChange, children: hint }: CheckboxProps) {
  const id = useId();
  const shown = useShown(name) === true;
  return (
    <div class="checkbox">
      <input
        type="checkbox"
        id={id}
        name={name}
        value={value}
        {...(checked === undefined ? { defaultChecked: initial ?? shown } : { checked })}
        onChange={(event) => onChange?.(event.currentTarget.checked)}
        aria-describedby={hint ? `${id}-hint` : undefined}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface CheckboxesProps {
  readonly name: string;
  readonly legend: string;
  readonly options: readonly { readonly value: string; readonly label: string; readonly hint?: string }[];
  readonly initial?: readonly string[];
}

export function Checkboxes({ name, legend, options, initial }: CheckboxesProps) {
  const shown = useShown(name);
  const ticked = initial ?? (Array.isArray(shown) ? shown : []);
  const error = useFieldError(name);
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={error ? `${id}-error` : undefined}>
      <legend>{legend}</legend>
      {options.map((option) => (
        <Checkbox
          key={option.value}
          name={name}
          value={option.value}
          label={<Words text={option.label} />}
          initial={ticked.includes(option.value)}
        >
          {option.hint && <Words text={option.hint} />}
        </Checkbox>
      ))}
      {error && (
        <p class="error" id={`${id}-error`}>
          <Words text={error} />
        </p>
      )}
    </fieldset>
  );
}

interface FileFieldProps {
  readonly label: string;
  readonly onRead: (octets: Uint8Array) => void;
  /** What is wrong with the file's content. */
  readonly fault?: string | undefined;
}

/** A CSV file; its bytes go to `onRead`. */
export function FileField({ label, onRead, fault }: FileFieldProps) {
  const id = useId();
  const [isUnread, setUnread] = useState(false);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      onRead(new Uint8Array(await file.arrayBuffer()));
      setUnread(false);
    } catch {
      setUnread(true); // The file was moved or may not be read.
    }
  };
  const error = isUnread ? 'The file cannot be read. Choose it again.' : fault;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept=".csv,text/csv,text/plain"
        // Otherwise choosing a corrected file of the same name would be no change.
        onClick={(event) => {
          event.currentTarget.value = '';
        }}
        onChange={(event) => read(event.currentTarget.files?.[0])}
        {...(error === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': `${id}-error` })}
      />
      {error && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

export const PASSWORD_HINT =
  'At least 8 characters. A few words that do not belong together are hard to guess and easy to remember.';

interface PasswordProps extends FieldFrameProps {
  /** For password managers. */
  readonly kind: 'current-password' | 'new-password';
}

/** A password with a button that shows it. Pasting works. */
export function Password({ kind, ...frame }: PasswordProps) {
  const [shown, setShown] = useState(false);
  return (
    <FieldFrame
      {...frame}
      input={(described) => (
        <div class="with-button">
          {/* Preact's types want one literal type for checking the role. */}
          <input
            {...described}
            type={(shown ? 'text' : 'password') as 'password'}
            autoComplete={kind}
            spellcheck={false}
            autoCapitalize="none"
          />
          <button type="button" aria-pressed={shown} onClick={() => setShown(!shown)}>
            {shown ? 'Hide' : 'Show'}
            <span class="hidden"> {frame.label}</span>
          </button>
        </div>
      )}
    />
  );
}

/** Length of today's DLT ids. Shorter ones exist, so they only cause a warning. */
const DIGITS = 19;

/** A PE id or template id with a count of its digits, because a missing digit is easily overlooked. */
export function DltIdField({ children, ...props }: Begun) {
  const [id, setId] = useState(useInitial(props, ''));
  const digits = id.trim().length;
  const odd = digits > 0 && digits !== DIGITS;
  return (
    <Field {...props} value={id} onInput={setId} inputMode="numeric" mono>
      {children}
      {odd && (
        <strong class="warn" role="status">
          {' '}
          {digits} {digits === 1 ? 'digit' : 'digits'}: ids of the DLT platform have {DIGITS}.
        </strong>
      )}
    </Field>
  );
}
