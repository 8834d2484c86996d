import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { testing } from '../../api/looking.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { exactNow } from '../../parts/now.ts';
import { type CreatedKey, endOf, LIVES } from './key.ts';
import { KeyFields, USUAL_RATE } from './key-fields.tsx';

const KINDS = [
  ['live', 'Live: hk_live_…'],
  ['test', 'Test: hk_test_…'],
] as const;

interface CreateKeyProps {
  readonly onClose: () => void;
  readonly onCreated: (made: CreatedKey) => void;
}

export function CreateKeyDialog({ onClose, onCreated }: CreateKeyProps) {
  const [opened] = useState(exactNow); // Pressed again after a lost answer, it must be the same request.
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <Form
        submit="Create key"
        onCancel={onClose}
        onSubmit={async (values) => {
          const isTest = values.text('kind') === 'test';
          const made = await create<CreatedKey>('/v2/account/keys', {
            ...(isTest && { test: true }),
            name: values.text('name'),
            scopes: values.all('scopes'),
            allowed_ips: values.lines('allowed_ips'),
            // A test key has a rate of its own, unless another one is given.
            ...(!(isTest && values.text('per_minute') === USUAL_RATE) && { per_minute: values.number('per_minute') }),
            ...endOf(values.optional('expires_at'), opened),
          });
          onCreated(made);
        }}
      >
        <Select
          name="kind"
          label="Kind"
          options={KINDS}
          initial={testing.value ? 'test' : 'live'}
          hint="What a test key sends leaves to nobody and costs nothing. It sends and reads, and sees tests alone."
        />
        <KeyFields />
        <Select name="expires_at" label="Stops working" options={[['', 'Never'], ...LIVES]} initial="" />
      </Form>
    </Dialog>
  );
}
