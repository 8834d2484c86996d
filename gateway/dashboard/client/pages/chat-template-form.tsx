import { useState } from 'preact/hooks';
import { create, patch } from '../api/http.ts';
import { optionsOf, useChatNumbers } from '../parts/chat-numbers.ts';
import { Field, Select, TextArea } from '../parts/field.tsx';
import { FormDialog, type FormValues } from '../parts/form.tsx';
import { Button } from '../parts/value.tsx';
import {
  CHAT_TEMPLATES_PATH,
  type ChatTemplate,
  filled,
  isFile,
  LANGUAGES,
  Phone,
  placeholderOf,
  variablesIn,
} from './chat-template.tsx';

const CATEGORIES = [
  ['utility', 'Utility: about an order, a booking, an account'],
  ['marketing', 'Marketing: offers and news'],
] as const;
const HEADERS = [
  ['', 'None'],
  ['text', 'Text'],
  ['image', 'Image'],
  ['video', 'Video'],
  ['document', 'Document'],
  ['location', 'Location'],
] as const;
const BUTTONS_MAX = 10;

interface ChatFormProps {
  /** The template to edit and its API path; absent for a new one. */
  readonly edits?: { readonly of: ChatTemplate; readonly path: string };
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Requests a template, or new content for an existing one, with a preview. */
export function ChatForm({ edits, onClose, onDone }: ChatFormProps) {
  const of = edits?.of;
  const numbers = useChatNumbers();
  const [draft, setDraft] = useState<ChatDraft>(() => draftOf(of));
  const set = (changed: Partial<ChatDraft>) => setDraft((old) => ({ ...old, ...changed }));
  const variables = variablesIn(draft.body);
  const send = async (values: FormValues) => {
    const body = requestOf(draft, variables.length);
    if (edits === undefined) {
      const from = values.optional('from');
      const about = { name: values.text('name'), language: values.text('language'), ...(from && { from }) };
      await create(CHAT_TEMPLATES_PATH, { ...about, ...body });
    } else await patch(edits.path, body);
    onDone();
    return 'Template handed in. The review usually takes 24 to 48 hours.';
  };
  return (
    <FormDialog
      title={of === undefined ? 'Request a chat-app template' : `Edit ${of.name}`}
      side="right"
      onClose={onClose}
      lead={
        of === undefined && (
          <>
            Carousels, limited-time offers, products and codes are asked for by the{' '}
            <a href="/docs#requestChatTemplate">API</a>.
          </>
        )
      }
      submit={of === undefined ? 'Request template' : 'Edit and resend'}
      onSubmit={send}
    >
      {of === undefined && (
        <>
          <Field name="name" label="Name" mono>
            Small letters, digits and _: order_left.
          </Field>
          <Select name="language" label="Language" options={LANGUAGES} initial="en" />
          {numbers.length > 1 && (
            <Select name="from" label="For number" options={optionsOf(numbers)}>
              All numbers of its business account can send it.
            </Select>
          )}
        </>
      )}
      <Select
        name="category"
        label="Category"
        options={of?.state === 'approved' ? CATEGORIES.filter(([name]) => name === of.category) : CATEGORIES}
        value={draft.category}
        onInput={(category) => set({ category })}
      >
        {of?.state === 'approved' && 'The provider lets nobody change that of an approved template.'}
      </Select>
      <HeaderFields draft={draft} set={set} />
      <BodyFields draft={draft} set={set} variables={variables} />
      <Field name="footer" label="Footer" optional value={draft.footer} onInput={(footer) => set({ footer })} />
      {draft.buttons.map((button, i) => (
        <ChatButtonFields
          key={i}
          index={i}
          of={button}
          onChange={(next) => set({ buttons: draft.buttons.with(i, next) })}
          onRemove={() => set({ buttons: draft.buttons.filter((_, at) => at !== i) })}
        />
      ))}
      {draft.buttons.length < BUTTONS_MAX && (
        <Button icon="plus" onClick={() => set({ buttons: [...draft.buttons, NEW_BUTTON] })}>
          Add button
        </Button>
      )}
      <Phone
        title="Chat-app"
        header={headerShown(draft)}
        body={filled(draft.body, draft.bodyExamples)}
        footer={draft.footer}
        buttons={draft.buttons.map(({ type, text }) => (type === 'copy_code' ? 'Copy offer code' : text))}
      />
    </FormDialog>
  );
}

function headerShown({ format, header, headerExample, headerUrl }: ChatDraft): string {
  if (format === 'text') return filled(header, [headerExample]);
  return format && placeholderOf(format, isFile(format) ? headerUrl : '');
}

const SAMPLE_HINT: Readonly<Record<string, string>> = {
  image: 'JPEG or PNG, up to 5 MB.',
  video: 'MP4, up to 16 MB.',
  document: 'PDF, up to 16 MB.',
};

interface PartProps {
  readonly draft: ChatDraft;
  readonly set: (changed: Partial<ChatDraft>) => void;
}

function HeaderFields({ draft, set }: PartProps) {
  return (
    <>
      <Select
        name="header.format"
        label="Header"
        options={HEADERS}
        value={draft.format}
        onInput={(format) => set({ format })}
      />
      {draft.format === 'text' && (
        <Field
          name="header.text"
          label="Header text"
          value={draft.header}
          onInput={(header) => set({ header })}
        >{`${draft.header.length}/60 characters, at most one variable {{1}}.`}</Field>
      )}
      {draft.format === 'text' && variablesIn(draft.header).length > 0 && (
        <Field
          name="header.example"
          label="Example of the header's {{1}}"
          value={draft.headerExample}
          onInput={(headerExample) => set({ headerExample })}
        />
      )}
      {isFile(draft.format) && (
        <Field
          name="header.example_url"
          label={`Address of a sample ${draft.format}`}
          value={draft.headerUrl}
          onInput={(headerUrl) => set({ headerUrl })}
        >{`For the review: a public https address. ${SAMPLE_HINT[draft.format]} Each message brings its own file.`}</Field>
      )}
    </>
  );
}

function BodyFields({ draft, set, variables }: PartProps & { readonly variables: readonly string[] }) {
  return (
    <>
      <TextArea
        name="body"
        label="Body"
        rows={5}
        value={draft.body}
        onInput={(body) => set({ body })}
      >{`${draft.body.length}/1,024 characters. Variables are {{1}}, {{2}} …, with words around them.`}</TextArea>
      {variables.map((variable, i) => (
        <Field
          key={variable}
          name={`body_examples[${i}]`}
          label={`Example of {{${variable}}}`}
          value={draft.bodyExamples[i] ?? ''}
          onInput={(value) => {
            const examples = Array.from({ length: variables.length }, (_, at) => draft.bodyExamples[at] ?? '');
            set({ bodyExamples: examples.with(i, value) });
          }}
        />
      ))}
    </>
  );
}

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

function ChatButtonFields({ index, of, onChange, onRemove }: ChatButtonFieldsProps) {
  const name = (member: string) => `buttons[${index}].${member}`;
  const set = (changed: Partial<ButtonDraft>) => onChange({ ...of, ...changed });
  const takesExample = of.type === 'copy_code' || (of.type === 'url' && of.url.includes('{{'));
  return (
    <fieldset class="group">
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
          value={of.text}
          onInput={(text) => set({ text })}
        >{`${of.text.length}/25 characters`}</Field>
      )}
      {of.type === 'url' && (
        <Field name={name('url')} label="Web address" value={of.url} onInput={(url) => set({ url })}>
          {'{{1}} may stand at its end.'}
        </Field>
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

interface ChatDraft {
  readonly category: string;
  readonly format: string;
  readonly header: string;
  readonly headerExample: string;
  readonly headerUrl: string;
  readonly body: string;
  readonly bodyExamples: readonly string[];
  readonly footer: string;
  readonly buttons: readonly ButtonDraft[];
}

interface ButtonDraft {
  readonly type: string;
  readonly text: string;
  readonly url: string;
  readonly phone: string;
  readonly example: string;
}

const NEW_BUTTON: ButtonDraft = { type: 'quick_reply', text: '', url: '', phone: '', example: '' };

function draftOf(of: ChatTemplate | undefined): ChatDraft {
  return {
    category: of?.category ?? 'utility',
    format: of?.header?.format ?? '',
    header: of?.header?.text ?? '',
    headerExample: of?.examples?.header ?? '',
    headerUrl: of?.examples?.header_url ?? '',
    body: of?.body ?? '',
    bodyExamples: of?.examples?.body ?? [],
    footer: of?.footer ?? '',
    buttons: (of?.buttons ?? []).map(({ type, text, url, phone_number: phone }, i) => ({
      ...{ type, text, url: url ?? '', phone: phone ?? '' },
      example: of?.examples?.buttons[i] ?? '',
    })),
  };
}

/** The request; empty fields are left out. */
function requestOf(draft: ChatDraft, variables: number): object {
  const { category, format, header, headerExample, headerUrl, body, bodyExamples, footer, buttons } = draft;
  return {
    ...{ category, body, body_examples: Array.from({ length: variables }, (_, i) => bodyExamples[i] ?? '') },
    ...(format !== '' && {
      header: {
        format,
        ...(format === 'text' && given({ text: header, example: headerExample })),
        ...(isFile(format) && given({ example_url: headerUrl })),
      },
    }),
    ...given({ footer }),
    buttons: buttons.map(({ type, text, url, phone, example }) => ({
      type,
      ...given({
        text: type === 'copy_code' ? '' : text,
        url: type === 'url' ? url : '',
        phone_number: type === 'phone_number' ? phone : '',
        example: type === 'copy_code' || (type === 'url' && url.includes('{{')) ? example : '',
      }),
    })),
  };
}

function given(members: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));
}
