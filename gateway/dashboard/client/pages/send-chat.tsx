import { useEffect, useState } from 'preact/hooks';
import { usePages } from '../api/load.ts';
import { customerAsked } from '../parts/chat.ts';
import { useChatNumbers } from '../parts/chat-numbers.ts';
import { Field, Select, TextArea } from '../parts/field.tsx';
import type { FormValues } from '../parts/form.tsx';
import { Empty, Problem, Skeleton } from '../parts/page.tsx';
import { LinkButton } from '../parts/value.tsx';
import { CHAT_TEMPLATES_PATH, type ChatTemplate, filled, Phone, placeholderOf } from './chat-template.tsx';
import { ContentFields, smsOf, useTemplates } from './send-fields.tsx';
import { SendPage } from './send-form.tsx';

const KINDS = [
  ['template', 'Template: at any time'],
  ['text', 'Text: within 24 hours after the customer wrote'],
  ['media', 'File: within 24 hours after the customer wrote'],
  ['buttons', 'Text with buttons: within 24 hours after the customer wrote'],
] as const;
type Kind = (typeof KINDS)[number][0];

const PATHS: Readonly<Record<Kind, string>> = {
  template: '/v2/chatapp/send',
  text: '/v2/chatapp/send-text',
  media: '/v2/chatapp/send-media',
  buttons: '/v2/chatapp/send-buttons',
};

const FILES = [
  ['image', 'Image: JPEG, PNG'],
  ['video', 'Video: MP4'],
  ['audio', 'Audio: MP3, OGG'],
  ['document', 'Document: PDF'],
  ['sticker', 'Sticker: WebP'],
] as const;
const WITHOUT_CAPTION = ['audio', 'sticker'];
const BUTTONS = [0, 1, 2] as const;

export function SendChatPage() {
  const [kind, setKind] = useState<Kind>('template');
  const [from, setFrom] = useState('');
  const numbers = useChatNumbers();
  const sender = numbers.find(({ number }) => number === from) ?? numbers[0];
  const choose = (value: string) => setKind(KINDS.find(([one]) => one === value)?.[0] ?? 'template');
  return (
    <SendPage
      title="Send on the chat-app channel"
      lead="It is checked before anything is sent."
      path={PATHS[kind]}
      bodyOf={(values) => bodyOf(kind, values)}
    >
      <Field name="to" label="Recipient" type="tel">
        With its country code: +91 98765 43210.
      </Field>
      <Select name="kind" label="What" options={KINDS} value={kind} onInput={choose} />
      {numbers.length > 1 && (
        <Select
          name="from"
          label="From"
          options={[['', USUAL], ...numbers.map(({ number }) => [number, number] as const)]}
          value={from}
          onInput={setFrom}
        />
      )}
      {kind === 'template' && <ChatTemplateFields business={sender?.business_id} />}
      {kind === 'text' && <TextArea name="message" label="Text" />}
      {kind === 'media' && <FileFields />}
      {kind === 'buttons' && <ButtonFields />}
      <FallbackFields />
      <Field name="reference" label="Reference" optional>
        Your own name for it; search finds it.
      </Field>
    </SendPage>
  );
}

/** What the API does without `from`. */
const USUAL = 'Templates from the default number, others from the one that the customer wrote to last';

const INSTEAD = [
  ['', 'Nothing'],
  ['sms', 'An SMS goes in its place'],
] as const;

/** The SMS that is sent if the message fails or is not delivered in time. */
function FallbackFields() {
  const [channel, setChannel] = useState('');
  const templates = useTemplates();
  return (
    <>
      <Select
        name="fallback.channel"
        label="If it does not arrive"
        options={INSTEAD}
        value={channel}
        onInput={setChannel}
      >
        {channel === '' ? undefined : 'The SMS is paid for when it goes; what the conversation cost then comes back.'}
      </Select>
      {channel !== '' && (
        <fieldset>
          <legend>SMS in its place</legend>
          <Field name="fallback.after_seconds" label="After seconds" type="number" initial="120">
            How long the message has to be delivered. If it fails before, the SMS goes at once.
          </Field>
          <ContentFields templates={templates} at="fallback." />
        </fieldset>
      )}
    </>
  );
}

function FileFields() {
  const [type, setType] = useState('image');
  return (
    <>
      <Select name="type" label="Kind of file" options={FILES} value={type} onInput={setType} />
      <Field name="url" label="Address of the file" type="url">
        A public https address: the provider fetches it.
      </Field>
      {!WITHOUT_CAPTION.includes(type) && <TextArea name="caption" label="Caption" optional rows={2} />}
    </>
  );
}

function ButtonFields() {
  return (
    <>
      <TextArea name="body" label="Text" />
      {BUTTONS.map((i) => (
        <Field key={i} name={`buttons[${i}]`} label={`Button ${i + 1}`} optional={i > 0}>
          {i === 0 ? 'Up to 20 characters each. You get back the one that the customer presses.' : undefined}
        </Field>
      ))}
    </>
  );
}

function bodyOf(kind: Kind, values: FormValues) {
  return {
    to: customerAsked(values.text('to')),
    from: values.optional('from'),
    ...contentOf(kind, values),
    reference: values.optional('reference'),
    ...fallbackOf(values),
  };
}

function fallbackOf(values: FormValues): { readonly fallback?: object } {
  const channel = values.optional('fallback.channel');
  if (channel === undefined) return {};
  const seconds = values.neededNumber('fallback.after_seconds');
  return { fallback: { channel, after_seconds: seconds, ...smsOf(values, 'fallback.') } };
}

function contentOf(kind: Kind, values: FormValues): object {
  if (kind === 'template') return chatTemplateOf(values);
  if (kind === 'text') return { message: values.exact('message') };
  if (kind === 'media') {
    return { type: values.text('type'), url: values.text('url'), caption: values.optional('caption') };
  }
  const titles = BUTTONS.flatMap((i) => values.optional(`buttons[${i}]`) ?? []);
  return { body: values.exact('body'), buttons: titles.map((title, i) => ({ id: `button-${i + 1}`, title })) };
}

/** More templates than people choose from; whoever has more sends them by the API. */
const READ = 500;

interface ChatTemplateFieldsProps {
  /** The provider's business account of the sending number, whose templates can be used. Undefined while unknown. */
  readonly business: string | undefined;
  /** Messages sent by this form so far: a new count clears the values. */
  readonly sent?: number;
}

/** An approved template, a field for each value, and a preview. */
export function ChatTemplateFields({ business, sent = 0 }: ChatTemplateFieldsProps) {
  const { rows, problem, retry } = usePages<ChatTemplate>(CHAT_TEMPLATES_PATH, { state: 'approved', limit: READ });
  const [chosen, setChosen] = useState<string>();
  const [values, setValues] = useState<readonly string[]>([]);
  useEffect(() => setValues([]), [sent, business]);
  if (problem) return <Problem problem={problem} retry={retry} />;
  if (rows === undefined) return <Skeleton />;
  const sendable = rows.filter((one) => fitsForm(one) && one.business_id === (business ?? one.business_id));
  const template = sendable.find((one) => keyOf(one) === chosen) ?? sendable[0];
  if (template === undefined) {
    return (
      <Empty icon="template" action={<LinkButton href="/dashboard/templates/chatapp">See your templates</LinkButton>}>
        No template is approved yet.
      </Empty>
    );
  }
  const choose = (key: string) => {
    setChosen(key);
    setValues([]);
  };
  return (
    <>
      <Select
        name="template"
        label="Template"
        options={sendable.map((one) => [keyOf(one), `${one.name} (${one.language})`])}
        value={keyOf(template)}
        onInput={choose}
      />
      {template.params.map((place, i) => (
        <Field
          key={`${keyOf(template)} ${i}`}
          name={`params[${i}]`}
          label={`Value ${i + 1}: ${place}`}
          value={values[i] ?? ''}
          onInput={(value) => setValues(template.params.map((_, at) => (at === i ? value : (values[at] ?? ''))))}
        />
      ))}
      {template.header?.format === 'location' && (
        <>
          <Field name="header.latitude" label="Latitude" inputMode="numeric">
            Degrees north, such as 19.0760.
          </Field>
          <Field name="header.longitude" label="Longitude" inputMode="numeric">
            Degrees east, such as 72.8777.
          </Field>
          <Field name="header.name" label="Name of the place" />
          <Field name="header.address" label="Its address" />
        </>
      )}
      <Preview template={template} values={values} />
    </>
  );
}

/** For `POST /v2/chatapp/send`. */
export function chatTemplateOf(values: FormValues): object {
  const [template = '', language = ''] = values.text('template').split(' ');
  const params: string[] = [];
  while (values.has(`params[${params.length}]`)) params.push(values.exact(`params[${params.length}]`));
  const place = values.has('header.name') && {
    latitude: values.number('header.latitude'),
    longitude: values.number('header.longitude'),
    name: values.text('header.name'),
    address: values.text('header.address'),
  };
  return { template, language, params, ...(place && { header: place }) };
}

/** Carousels, limited-time offers and products need values for each customer: only programs send them. */
function fitsForm({ cannot_be_sent: part, cards, offer, header, buttons }: ChatTemplate): boolean {
  const isProducts = header?.format === 'product' || buttons.some(({ type }) => type === 'mpm');
  return part === null && cards === null && !offer?.expires && !isProducts;
}

function keyOf({ name, language }: ChatTemplate): string {
  return `${name} ${language}`;
}

/** `values` follow the template: header, body, buttons. */
function Preview({ template, values }: { readonly template: ChatTemplate; readonly values: readonly string[] }) {
  const { header, body, footer, buttons, params } = template;
  const of = (begin: string) => values.filter((_, i) => params[i]?.includes(begin));
  const shown =
    header === null
      ? ''
      : header.format === 'text'
        ? filled(header.text ?? '', of('header {{'))
        : placeholderOf(header.format, of('in the header')[0]);
  return (
    <Phone
      title="Chat-app"
      header={shown}
      body={filled(body ?? '', of('body {{'))}
      footer={footer ?? ''}
      buttons={buttons.map(({ text }) => text)}
    />
  );
}
