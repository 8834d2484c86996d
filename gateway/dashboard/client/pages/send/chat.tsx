import { useState } from 'preact/hooks';
import { useChatNumbers } from '../../parts/chat-numbers.ts';
import { customerAsked } from '../../parts/customer.ts';
import { Field, Select, TextArea } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { PageHead } from '../../parts/page.tsx';
import { ChatTemplateFields, chatTemplateOf } from './chat-template-fields.tsx';
import { smsOf } from './content.ts';
import { ContentFields, useTemplates } from './fields.tsx';
import { type Accepted, SendForm } from './send-form.tsx';
import { Sent } from './sent.tsx';
import { SendTabs } from './tabs.tsx';

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

/** One message on the chat-app channel, of each kind that the API sends. */
export function SendChatPage() {
  const [kind, setKind] = useState<Kind>('template');
  const [accepted, setAccepted] = useState<Accepted>();
  const [from, setFrom] = useState('');
  const numbers = useChatNumbers();
  const sender = numbers.find(({ number }) => number === from) ?? numbers[0];
  const choose = (value: string) => setKind(KINDS.find(([one]) => one === value)?.[0] ?? 'template');
  return (
    <>
      <PageHead title="Send on the chat-app channel" lead="It is checked before anything is sent." />
      <SendTabs />
      {accepted ? (
        <Sent accepted={accepted} again={() => setAccepted(undefined)} />
      ) : (
        <SendForm path={PATHS[kind]} bodyOf={(values) => bodyOf(kind, values)} onDone={setAccepted}>
          <Field name="to" label="Recipient" type="tel" hint="With its country code: +91 98765 43210." />
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
          <Field name="reference" label="Reference" optional hint="Your own name for it; search finds it." />
        </SendForm>
      )}
    </>
  );
}

/** As the API has it without `from`. */
const USUAL = 'Templates from the default number, others from the one that the customer wrote to last';

const INSTEAD = [
  ['', 'Nothing'],
  ['sms', 'An SMS goes in its place'],
] as const;

/** The SMS that goes if the message fails, or is not delivered in time. */
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
        hint={
          channel === '' ? undefined : 'The SMS is paid for when it goes; what the conversation cost then comes back.'
        }
      />
      {channel !== '' && (
        <fieldset>
          <legend>SMS in its place</legend>
          <Field
            name="fallback.after_seconds"
            label="After seconds"
            type="number"
            initial="120"
            hint="How long the message has to be delivered. If it fails before, the SMS goes at once."
          />
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
      <Field
        name="url"
        label="Address of the file"
        type="url"
        hint="A public https address: the provider fetches it."
      />
      {!WITHOUT_CAPTION.includes(type) && <TextArea name="caption" label="Caption" optional rows={2} />}
    </>
  );
}

function ButtonFields() {
  return (
    <>
      <TextArea name="body" label="Text" />
      {BUTTONS.map((i) => (
        <Field
          key={i}
          name={`buttons[${i}]`}
          label={`Button ${i + 1}`}
          optional={i > 0}
          hint={i === 0 ? 'Up to 20 characters each. You get back the one that the customer presses.' : undefined}
        />
      ))}
    </>
  );
}

function bodyOf(kind: Kind, values: FormValues) {
  const reference = values.optional('reference');
  const from = values.optional('from');
  return {
    to: customerAsked(values.text('to')),
    ...(from === undefined ? {} : { from }),
    ...contentOf(kind, values),
    ...(reference === undefined ? {} : { reference }),
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
    const caption = values.optional('caption');
    return { type: values.text('type'), url: values.text('url'), ...(caption === undefined ? {} : { caption }) };
  }
  const titles = BUTTONS.flatMap((i) => values.optional(`buttons[${i}]`) ?? []);
  return { body: values.exact('body'), buttons: titles.map((title, i) => ({ id: `button-${i + 1}`, title })) };
}
