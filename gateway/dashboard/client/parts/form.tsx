import { signal } from '@preact/signals';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import { type ApiProblem, asProblem, fieldProblem } from '../api/http.ts';
import { belongs, Checkbox, Errors, Field, Shown } from './field.tsx';
import { Problem } from './page.tsx';
import { Button, Copy, Icon, Words } from './value.tsx';

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
  /** What the fields begin with, by their names: what the API says of the thing that is changed. */
  readonly of?: object | undefined;
  readonly children?: ComponentChildren;
}

/** The second click of a double one, or one that was made because nothing seemed to happen. */
const SECOND_CLICK_MS = 700;

/** A form. What was typed stays when sending fails, and the first field with an error gets the focus. */
export function Form(props: FormProps) {
  const {
    submit,
    look = 'primary',
    onSubmit,
    next,
    onCancel,
    sendsAgain = false,
    disabled = false,
    of,
    children,
  } = props;
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
      <Shown.Provider value={of}>
        <Errors.Provider value={problem?.errors ?? []}>{children}</Errors.Provider>
      </Shown.Provider>
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

/** Closes the dialog that `useDialog` holds open around it. */
const Closing = createContext(() => {});

/**
 * The dialog of a page or a part: `open(<Confirm … />)` shows one, in place of another if there is one, and `{dialog}` is where it
 * stands. What is in it closes it; what it was given does not change while it is open.
 */
export function useDialog(): readonly [dialog: ComponentChildren, open: (what: VNode) => void] {
  const [what, open] = useState<VNode>();
  const close = () => open((now) => (now === what ? undefined : now)); // Not what has been opened in its place.
  return [what && <Closing.Provider value={close}>{what}</Closing.Provider>, open];
}

/** What closes it, for a dialog whose act is none of a form. */
export function useClosing(): () => void {
  return useContext(Closing);
}

interface DialogProps {
  readonly title: string;
  /** Absent: `useDialog` opened it, and closes it. */
  readonly onClose?: (() => void) | undefined;
  /** Escape does not close it. */
  readonly locked?: boolean;
  /** From the side, for details of a row. */
  readonly side?: 'left' | 'right' | undefined;
  readonly children: ComponentChildren;
}

/** The browser's own modal dialog. While the component is there it is open; the focus goes back to what had it before. */
export function Dialog({ title, onClose: given, locked = false, side, children }: DialogProps) {
  const closing = useClosing();
  const onClose = given ?? closing;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      dialog.current?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${side ?? ''}`}
      aria-labelledby={heading}
      // Chromium closes a dialog at a second Escape, whatever `onCancel` says; not with `none`.
      closedby={locked ? 'none' : 'closerequest'}
      onCancel={(event) => {
        event.preventDefault();
        if (event.target === dialog.current && !locked) onClose();
      }}
      onClose={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-head">
        <h2 id={heading}>{title}</h2>
        {!locked && (
          <button type="button" class="copy" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </div>
      {children}
      <Toasts />
    </dialog>
  );
}

interface FormDialogProps
  extends Omit<FormProps, 'onSubmit' | 'onCancel' | 'disabled'>,
    Pick<DialogProps, 'title' | 'side' | 'onClose'> {
  /** What stands above the form. */
  readonly lead?: ComponentChildren;
  /** A name that the user must type, for what cannot be undone. */
  readonly typed?: string | undefined;
  /** Sends. Then the dialog closes, and a toast says what is returned, if that is a text. What it throws is shown. */
  readonly onSubmit: (values: FormValues) => Promise<unknown>;
}

/** A dialog that asks, sends and closes. */
export function FormDialog({ title, side, onClose, lead, typed, onSubmit, children, ...form }: FormDialogProps) {
  const closing = useClosing();
  const close = onClose ?? closing;
  const [text, setText] = useState('');
  const send = async (values: FormValues) => {
    const said = await onSubmit(values);
    close();
    if (typeof said === 'string') toast(said);
  };
  return (
    <Dialog title={title} side={side} onClose={close}>
      {lead && <div class="prose">{lead}</div>}
      <Form {...form} onSubmit={send} onCancel={close} disabled={typed !== undefined && text !== typed}>
        {children}
        {typed !== undefined && (
          <Field name="typed" label={`Type ${typed} to confirm`} value={text} onInput={setText} autoComplete="off" />
        )}
      </Form>
    </Dialog>
  );
}

interface ConfirmProps extends Pick<FormDialogProps, 'title' | 'typed' | 'onClose'> {
  /** What stops working, and whether it can be undone. */
  readonly children: ComponentChildren;
  /** The button: a verb and what it does it to. */
  readonly act: string;
  readonly onConfirm: () => Promise<unknown>;
}

/** Asks before something that cannot be undone: "Revoke the key Billing?" It stays open when that fails, and says why. */
export function Confirm({ children, act, onConfirm, ...dialog }: ConfirmProps) {
  return <FormDialog {...dialog} submit={act} look="danger" lead={children} onSubmit={onConfirm} />;
}

interface SecretProps {
  /** What it is, as in "API key". */
  readonly name: string;
  readonly text: string;
  readonly hint: string;
  /** What to do with it. */
  readonly children?: ComponentChildren;
}

/** Shows a secret the one time that it can be shown. It stays until the user says that it is stored. */
export function SecretDialog({ name, text, hint, children }: SecretProps) {
  const close = useClosing();
  const [stored, setStored] = useState(false);
  return (
    <Dialog title={`Your new ${name}`} locked={!stored}>
      <p>{hint} It is shown only now.</p>
      <div class="secret">
        <code>{text}</code>
        <Copy text={text} label={name} />
      </div>
      {children}
      <Checkbox name="stored" label="I have stored it" checked={stored} onChange={setStored} />
      <div class="dialog-actions">
        <Button look="primary" disabled={!stored} onClick={close}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

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
