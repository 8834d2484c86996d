import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { CodeBlock } from '../../parts/copy.tsx';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}

/** For the day that the phone is lost. They are shown this one time. */
export function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const [stored, setStored] = useState(false);
  return (
    <div class="form">
      <p>
        Without your app, each of these recovery codes lets you in once. Store them where you find them without your
        phone. They are shown only now.
      </p>
      <CodeBlock text={codes.join('\n')} label="recovery codes" />
      <Checkbox name="stored" label="I have stored them" checked={stored} onChange={setStored} />
      <div class="form-actions">
        <Button look="primary" disabled={!stored} onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
