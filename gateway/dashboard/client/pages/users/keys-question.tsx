import { useState } from 'preact/hooks';
import { ApiProblem } from '../../api/problem.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';

/** What becomes of the keys that a user made. */
export type KeyFate = 'revoke' | 'keep';

/** Does something to a user that the gateway may answer with a question about the user's keys. */
type Act = (keys?: KeyFate) => Promise<void>;

interface Asked {
  /** Names the keys. */
  readonly words: string;
  readonly act: Act;
}

/** Acts; when the gateway asks what becomes of the user's keys, the dialog `question` asks it, and it acts with the answer. */
export function useKeysQuestion() {
  const [asked, setAsked] = useState<Asked>();
  const attempt = (act: Act): Promise<void> =>
    act().catch((error: unknown) => {
      if (!(error instanceof ApiProblem) || error.code !== 'user_has_keys') throw error;
      setAsked({ words: error.message, act });
    });
  const close = () => setAsked(undefined);
  return { attempt, question: asked && <KeysQuestion of={asked} onClose={close} /> };
}

const FATES = [
  ['revoke', 'Revoke them: programs that use them are refused'],
  ['keep', 'Keep them: they go on working'],
] as const;

function KeysQuestion({ of, onClose }: { readonly of: Asked; readonly onClose: () => void }) {
  return (
    <Dialog title="What becomes of the keys?" onClose={onClose}>
      <div class="prose">
        <p>{of.words}</p>
      </div>
      <Form
        submit="Go on"
        look="danger"
        onCancel={onClose}
        onSubmit={async (values) => {
          await of.act(values.text('keys') === 'keep' ? 'keep' : 'revoke');
          onClose();
        }}
      >
        <Select name="keys" label="The keys" options={FATES} initial="revoke" />
      </Form>
    </Dialog>
  );
}
