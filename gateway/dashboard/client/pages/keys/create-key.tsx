import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { exactNow } from '../../parts/now.ts';
import { type CreatedKey, endOf, LIVES } from './key.ts';
import { KeyFields } from './key-fields.tsx';

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
          const made = await create<CreatedKey>('/v2/account/keys', {
            name: values.text('name'),
            scopes: values.all('scopes'),
            allowed_ips: values.lines('allowed_ips'),
            per_minute: values.number('per_minute'),
            ...endOf(values.optional('expires_at'), opened),
          });
          onCreated(made);
        }}
      >
        <KeyFields />
        <Select name="expires_at" label="Stops working" options={[['', 'Never'], ...LIVES]} initial="" />
      </Form>
    </Dialog>
  );
}
