import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, asProblem, type FieldError } from '../api/problem.ts';
import { Button } from './button.tsx';
import { FormValues } from './form-values.ts';
import { Problem } from './problem.tsx';
import { Words } from './words.tsx';

const Errors = createContext<readonly FieldError[]>([]);

/** What the gateway said about the field of this name, or about its members. */
export function useFieldError(name: string): string | undefined {
  const of = useContext(Errors).filter(({ field }) => belongs(field, name));
  return of.length === 0 ? undefined : of.map(({ detail }) => detail).join(' ');
}

type Act = (values: FormValues) => Promise<void>;

interface FormProps {
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
