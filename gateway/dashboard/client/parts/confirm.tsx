import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Form } from './form.tsx';

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
