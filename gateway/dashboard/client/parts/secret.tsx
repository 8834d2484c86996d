import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Checkbox } from './checkbox.tsx';
import { Copy } from './copy.tsx';
import { Dialog } from './dialog.tsx';

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
