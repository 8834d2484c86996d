import { signal } from '@preact/signals';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import { type ApiProblem, asProblem, fieldProblem } from '../api/http.ts';
import { belongs, Checkbox, Errors, Field, Shown } from './field.tsx';
import { Problem } from './page.tsx';
import { Button, Copy, Icon, Words } from './value.tsx';

type Act = (values: FormValues) => Promise<void>;

interface FormProps {
  /** The button's label. */
  readonly submit: string;
  /** `plain`: a small form beside others. */
  readonly look?: 'primary' | 'danger' | 'plain';
  /** Errors that it throws are shown at the field that the problem names, otherwise above the buttons. */
  readonly onSubmit: Act;
  /** A second button with the same values. Enter in a field does not press it. */
  readonly next?: { readonly words: string; readonly act: Act } | undefined;
  readonly onCancel?: () => void;
  /** The form stays open to send again; it is busy for `SECOND_CLICK_MS` after a success. */
  readonly sendsAgain?: boolean;
  readonly disabled?: boolean;
  /** Initial values by field name: usually the API's answer for the thing to change. */
  readonly of?: object | undefined;
  readonly children?: ComponentChildren;
}

/** A double click, or an impatient second one. */
const SECOND_CLICK_MS = 700;

/** What was typed stays when sending fails, and the first field with an error gets the focus. */
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
  // After paint: fields render the problem one pass later than the form.
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

/** Says that fields are wrong, and lists errors of fields that the form does not have. */
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

export class FormValues {
  readonly #data: FormData;

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form);
  }

  /** Trimmed; an empty text if nothing was entered. Read passwords by `exact`. */
  text(name: string): string {
    return this.exact(name).trim();
  }

  exact(name: string): string {
    const value = this.#data.get(name);
    return typeof value === 'string' ? value : '';
  }

  /** Undefined if nothing was entered, so that the request leaves it out. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** Undefined if nothing was entered. Accepts 1,000; otherwise throws an error for the field. */
  number(name: string): number | undefined {
    const text = this.text(name);
    return text === '' ? undefined : this.neededNumber(name);
  }

  /** Like `number`, for a required field. */
  neededNumber(name: string): number {
    const number = Number(this.text(name).replaceAll(',', '') || Number.NaN);
    if (Number.isNaN(number)) throw fieldProblem({ field: name, code: 'wrong_type', detail: 'It must be a number.' });
    return number;
  }

  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === 'string');
  }

  has(name: string): boolean {
    return this.#data.has(name);
  }

  lines(name: string): string[] {
    return this.exact(name)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }
}

/** Only what the user changed. Sending the rest would undo what others changed while the page was open. */
export function changed<T extends object>(now: T, shown: { readonly [Name in keyof T]: unknown }): object {
  const before = new Map<string, unknown>(Object.entries(shown));
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name))),
  );
}

const Closing = createContext(() => {});

/**
 * A place for dialogs: `open(<Confirm … />)` shows one, replacing another, where `{dialog}` stands. The dialog closes
 * itself; its props are not updated while it is open.
 */
export function useDialog(): readonly [dialog: ComponentChildren, open: (what: VNode) => void] {
  const [what, open] = useState<VNode>();
  const close = () => open((now) => (now === what ? undefined : now)); // But not a dialog that has replaced it.
  return [what && <Closing.Provider value={close}>{what}</Closing.Provider>, open];
}

/** Closes the surrounding dialog of `useDialog`. */
export function useClosing(): () => void {
  return useContext(Closing);
}

interface DialogProps {
  readonly title: string;
  /** Absent: the dialog was opened by `useDialog`. */
  readonly onClose?: (() => void) | undefined;
  /** Escape does not close it. */
  readonly locked?: boolean;
  /** Opens from the side, for a row's details. */
  readonly side?: 'left' | 'right' | undefined;
  readonly children: ComponentChildren;
}

/** The browser's modal dialog: open while mounted, then the focus returns to where it was. */
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
      // Chromium closes a dialog at the second Escape despite `onCancel`, unless this is `none`.
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
  /** Shown above the form. */
  readonly lead?: ComponentChildren;
  /** A name to type before something that cannot be undone. */
  readonly typed?: string | undefined;
  /** On success the dialog closes, and a returned text becomes a toast. Errors are shown. */
  readonly onSubmit: (values: FormValues) => Promise<unknown>;
}

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
  /** The button's label: a verb and its object. */
  readonly act: string;
  readonly onConfirm: () => Promise<unknown>;
}

/** Confirms something that cannot be undone: "Revoke the key Billing?" Stays open with the error if it fails. */
export function Confirm({ children, act, onConfirm, ...dialog }: ConfirmProps) {
  return <FormDialog {...dialog} submit={act} look="danger" lead={children} onSubmit={onConfirm} />;
}

interface SecretProps {
  /** Such as "API key". */
  readonly name: string;
  readonly text: string;
  readonly hint: string;
  /** What to do with the secret. */
  readonly children?: ComponentChildren;
}

/** Shows a secret for the only time. It stays until the user says that it is stored. */
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
/** Ids of the mounted `Toasts`; the last one shows the messages. */
const places = signal<readonly string[]>([]);
let ids = 0;

/** Says that something is done: "Key revoked." Screen readers read it. A form shows its own errors. */
export function toast(text: string, tone: Told['tone'] = 'good'): void {
  const id = ids++;
  told.value = [...told.value, { id, text, tone }];
  setTimeout(() => {
    told.value = told.value.filter((entry) => entry.id !== id);
  }, SHOWN_MS);
}

/** For an act without a form: `act().catch(toastProblem)`. */
export function toastProblem(error: unknown): void {
  const { title, message } = asProblem(error);
  toast(`${title}. ${message}`, 'bad');
}

/**
 * Stands at the end of the page and in each dialog; the newest dialog's is used, as everything outside is inert. The
 * live region must exist before its first message, or screen readers skip that.
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
    // Move above popovers opened since.
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
