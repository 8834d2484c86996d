import { useState } from 'preact/hooks';
import { toClipboard } from './clipboard.ts';
import { Icon } from './icon.tsx';

interface CopyProps {
  readonly text: string;
  /** What is copied, as in "Copy secret". */
  readonly label: string;
}

const SHOWN_MS = 2_000;

/** A button that copies, and says so. */
export function Copy({ text, label }: CopyProps) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await toClipboard(text));
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <button type="button" class="copy" onClick={copy} aria-label={`Copy ${label}`} title={`Copy ${label}`}>
      <Icon name={copied ? 'check' : 'copy'} />
      <span class="hidden" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  );
}

/** An id, in the font of code, with its copy button. */
export function CopyId({ id }: { readonly id: string }) {
  return (
    <span class="copy-id">
      <code>{id}</code>
      <Copy text={id} label={id} />
    </span>
  );
}

/** Lines to paste elsewhere. */
export function CodeBlock({ text, label }: CopyProps) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <Copy text={text} label={label} />
    </div>
  );
}
