import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { asProblem } from '../api/problem.ts';
import { Button, Icon } from './button.tsx';
import { Checkbox, Field } from './field.tsx';
import { Form } from './form.tsx';
import { Copy, Words } from './value.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Escape does not close it. */
  readonly locked?: boolean;
  /** From the side, for details of a row. */
  readonly side?: 'left' | 'right';
  readonly children: ComponentChildren;
}

/** The browser's own modal dialog. While the component is there it is open; the focus goes back to what had it before. */
export function Dialog({ title, onClose, locked = false, side, children }: DialogProps) {
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

interface ConfirmProps {
  /** A question: "Revoke the key Billing?" */
  readonly title: string;
  /** What stops working, and whether it can be undone. */
  readonly children: ComponentChildren;
  /** The button: a verb and what it does it to. */
  readonly act: string;
  /** A name that the user must type, for what cannot be undone. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. It stays open when that fails, and says why. */
export function Confirm({ title, children, act, typed, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState('');
  const confirm = async () => {
    await onConfirm();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="prose">{children}</div>
      <Form
        submit={act}
        look="danger"
        onSubmit={confirm}
        onCancel={onClose}
        disabled={typed !== undefined && text !== typed}
      >
        {typed !== undefined && (
          <Field name="typed" label={`Type ${typed} to confirm`} value={text} onInput={setText} autoComplete="off" />
        )}
      </Form>
    </Dialog>
  );
}

interface SecretProps {
  /** What it is, as in "API key". */
  readonly name: string;
  readonly text: string;
  readonly hint: string;
  readonly onDone: () => void;
  /** What to do with it. */
  readonly children?: ComponentChildren;
}

/** Shows a secret the one time that it can be shown. It stays until the user says that it is stored. */
export function SecretDialog({ name, text, hint, onDone, children }: SecretProps) {
  const [stored, setStored] = useState(false);
  return (
    <Dialog title={`Your new ${name}`} onClose={onDone} locked={!stored}>
      <p>{hint} It is shown only now.</p>
      <div class="secret">
        <code>{text}</code>
        <Copy text={text} label={name} />
      </div>
      {children}
      <Checkbox name="stored" label="I have stored it" checked={stored} onChange={setStored} />
      <div class="dialog-actions">
        <Button look="primary" disabled={!stored} onClick={onDone}>
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
