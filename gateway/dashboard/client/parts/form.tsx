import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, asProblem, type FieldError, fieldProblem } from '../api/problem.ts';
import { Button } from './button.tsx';
import { Problem } from './page.tsx';
import { Words } from './value.tsx';

const Errors = createContext<readonly FieldError[]>([]);

/** What the gateway said about the field of this name, or about its members. */
export function useFieldError(name: string): string | undefined {
  const of = useContext(Errors).filter(({ field }) => belongs(field, name));
  return of.length === 0 ? undefined : of.map(({ detail }) => detail).join(' ');
}

type Act = (values: FormValues) => Promise<void>;

export interface FormProps {
  /** The button's words. */
  readonly submit: string;
  /** `plain`: a small form beside others on a page. */
  readonly look?: 'primary' | 'danger' | 'plain';
  /** Sends. What it throws is shown: at the field that the problem names, otherwise above the buttons. */
  readonly onSubmit: Act;
  /** A second act with the same values. Its button stands behind the first one, and Enter in a field does not press it. */
  readonly next?: { readonly words: string; readonly act: Act } | undefined;
  readonly onCancel?: () => void;
  /** The form stays, and each press sends once more: it is busy for as long after a success as a second click takes. */
  readonly sendsAgain?: boolean;
  readonly disabled?: boolean;
  readonly children?: ComponentChildren;
}

/** The second click of a double one, or one that was made because nothing seemed to happen. */
const SECOND_CLICK_MS = 700;

/** A form. What was typed stays when sending fails, and the first field with an error gets the focus. */
export function Form(props: FormProps) {
  const { submit, look = 'primary', onSubmit, next, onCancel, sendsAgain = false, disabled = false, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState<ApiProblem>();
  const [busy, setBusy] = useState(false);
  // After the paint: the fields learn of the problem one render later than the form.
  useEffect(() => {
    if (problem !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [problem]);
  const send = async (act: Act) => {
    if (form.current === null || busy) return;
    setBusy(true);
    try {
      await act(new FormValues(form.current));
      setProblem(undefined);
      if (sendsAgain) await new Promise((over) => setTimeout(over, SECOND_CLICK_MS));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  const submitted = (event: Event) => {
    event.preventDefault();
    return send(onSubmit);
  };
  return (
    <form ref={form} class="form" onSubmit={submitted} noValidate>
      <Errors.Provider value={problem?.errors ?? []}>{children}</Errors.Provider>
      {problem !== undefined && problem.errors.length === 0 && <Problem problem={problem} />}
      {problem !== undefined && problem.errors.length > 0 && <FieldErrors problem={problem} form={form.current} />}
      <div class="form-actions">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" {...(look === 'plain' ? {} : { look })} busy={busy} disabled={disabled}>
          {submit}
        </Button>
        {next && (
          <Button look="primary" busy={busy} onClick={() => send(next.act)}>
            {next.words}
          </Button>
        )}
      </div>
    </form>
  );
}

interface FieldErrorsProps {
  readonly problem: ApiProblem;
  readonly form: HTMLFormElement | null;
}

/** Says that fields are wrong; of those that the form does not have, also what. */
function FieldErrors({ problem, form }: FieldErrorsProps) {
  const unplaced = problem.errors.filter(({ field }) => !hasField(form, field));
  const marked = problem.errors.length - unplaced.length;
  return (
    <Problem problem={problem}>
      {marked > 0 && <p>{marked === 1 ? 'Correct the marked field.' : `Correct the ${marked} marked fields.`}</p>}
      {unplaced.map(({ field, detail }) => (
        <p key={field + detail}>
          <code>{field}</code> <Words text={detail} />
        </p>
      ))}
    </Problem>
  );
}

/** `to[3]` and `header.text` belong to `to` and `header`, unless the form has a field of exactly that name. */
function belongs(field: string, name: string): boolean {
  return field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`);
}

function hasField(form: HTMLFormElement | null, field: string): boolean {
  return [...(form?.elements ?? [])].some((element) => belongs(field, element.getAttribute('name') ?? '\0'));
}

/** What a form holds, by the names of its fields. */
export class FormValues {
  readonly #data: FormData;

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form);
  }

  /** Without blanks at both ends; empty when nothing was entered. Passwords are read by `exact`. */
  text(name: string): string {
    return this.exact(name).trim();
  }

  exact(name: string): string {
    const value = this.#data.get(name);
    return typeof value === 'string' ? value : '';
  }

  /** Undefined when nothing was entered: the member is then left out of the request. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** Undefined when nothing was entered. Thousands may be apart by commas. Throws what the form shows at the field if it is no number. */
  number(name: string): number | undefined {
    const text = this.text(name);
    return text === '' ? undefined : this.neededNumber(name);
  }

  /** The same of a field that may not be empty. */
  neededNumber(name: string): number {
    const number = Number(this.text(name).replaceAll(',', '') || Number.NaN);
    if (Number.isNaN(number)) throw fieldProblem({ field: name, code: 'wrong_type', detail: 'It must be a number.' });
    return number;
  }

  /** The ticked boxes of that name. */
  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === 'string');
  }

  has(name: string): boolean {
    return this.#data.has(name);
  }

  /** The non-empty lines of a text area. */
  lines(name: string): string[] {
    return this.exact(name)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }
}

/** Only what the user changed in a form. Sending the rest too would undo what others changed while the page was open. */
export function changed<T extends object>(now: T, shown: { readonly [Name in keyof T]: unknown }): object {
  const before = new Map<string, unknown>(Object.entries(shown));
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name))),
  );
}
