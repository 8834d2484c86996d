import { Button } from '../../parts/button.tsx';
import { Field, Select } from '../../parts/field.tsx';
import type { ButtonDraft } from './chat-draft.ts';

const TYPES = [
  ['quick_reply', 'Quick reply'],
  ['url', 'Web address'],
  ['phone_number', 'Phone call'],
  ['copy_code', 'Copy code'],
] as const;

interface ChatButtonFieldsProps {
  readonly index: number;
  readonly of: ButtonDraft;
  readonly onChange: (next: ButtonDraft) => void;
  readonly onRemove: () => void;
}

export function ChatButtonFields({ index, of, onChange, onRemove }: ChatButtonFieldsProps) {
  const name = (member: string) => `buttons[${index}].${member}`;
  const set = (changed: Partial<ButtonDraft>) => onChange({ ...of, ...changed });
  const takesExample = of.type === 'copy_code' || (of.type === 'url' && of.url.includes('{{'));
  return (
    <fieldset class="button-fields">
      <legend>Button {index + 1}</legend>
      <Select
        name={name('type')}
        label="What it does"
        options={TYPES}
        value={of.type}
        onInput={(type) => set({ type })}
      />
      {of.type !== 'copy_code' && (
        <Field
          name={name('text')}
          label="Label"
          hint={`${of.text.length}/25 characters`}
          value={of.text}
          onInput={(text) => set({ text })}
        />
      )}
      {of.type === 'url' && (
        <Field
          name={name('url')}
          label="Web address"
          hint="{{1}} may stand at its end."
          value={of.url}
          onInput={(url) => set({ url })}
        />
      )}
      {of.type === 'phone_number' && (
        <Field
          name={name('phone_number')}
          label="Phone number"
          inputMode="tel"
          value={of.phone}
          onInput={(phone) => set({ phone })}
        />
      )}
      {takesExample && (
        <Field
          name={name('example')}
          label={of.type === 'url' ? 'Example of {{1}}' : 'Example of the code'}
          value={of.example}
          onInput={(example) => set({ example })}
        />
      )}
      <Button look="quiet" icon="close" onClick={onRemove}>
        Remove button {index + 1}
      </Button>
    </fieldset>
  );
}
