import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { Toasts } from './toast.tsx';

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
