import { useState } from 'preact/hooks';
import { FieldFrame, type FieldFrameProps } from './field.tsx';

export const PASSWORD_HINT =
  'At least 8 characters. A few words that do not belong together are hard to guess and easy to remember.';

interface PasswordProps extends FieldFrameProps {
  /** For password managers. */
  readonly kind: 'current-password' | 'new-password';
}

/** A password, which may be looked at while it is typed. Pasting works. */
export function Password({ kind, ...frame }: PasswordProps) {
  const [shown, setShown] = useState(false);
  return (
    <FieldFrame {...frame}>
      {(described) => (
        <div class="with-button">
          {/* Preact's types want one literal type, to check the role. */}
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
    </FieldFrame>
  );
}
