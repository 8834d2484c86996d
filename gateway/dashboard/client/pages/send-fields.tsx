import { useState } from 'preact/hooks';
import { planText, roomOf, UNSEEN, unicodeCharacters } from '../../../../shared/messages/sms-plan.ts';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { templates } from '../../../endpoints/sms/account.ts';
import { useLoad } from '../api/load.ts';
import { session } from '../api/session.ts';
import { Field, Select, TextArea } from '../parts/field.tsx';
import type { FormValues } from '../parts/form.tsx';
import { counted } from '../parts/value.tsx';
import { homeZone, instantIn, templateValues, ZONES } from './send-values.ts';
import { useOwnSenders } from './senders.tsx';

type Templates = AnswerOf<typeof templates>;
type Template = Templates['templates'][number];

export function useTemplates(): readonly Template[] {
  return useLoad<Templates>('/v2/templates').data?.templates ?? [];
}

interface ContentFieldsProps {
  readonly templates: readonly Template[];
  /** Each recipient brings its own values. */
  readonly ownParams?: boolean;
  /** Prefix of the members in the request: `fallback.`. */
  readonly at?: string;
}

export function ContentFields({ templates, ownParams = false, at = '' }: ContentFieldsProps) {
  const [text, setText] = useState('');
  const [id, setId] = useState('');
  const template = templates.find((one) => one.id === id);
  return (
    <>
      <SenderFields at={at} />
      {templates.length > 0 && (
        <Select
          name={`${at}template_id`}
          label="Template"
          options={[['', 'Write the text'], ...templates.map((one) => [one.id, `${one.name} · ${one.id}`] as const)]}
          value={id}
          onInput={setId}
        >
          {template?.content}
        </Select>
      )}
      {template === undefined ? (
        <TextArea name={`${at}message`} label="Text" value={text} onInput={setText}>
          {<Counter text={text} />}
        </TextArea>
      ) : (
        !ownParams && (
          <TextArea name={`${at}params`} label="Values" optional={!template.content.includes('{#')} rows={3}>
            One line for each variable, in their order.
          </TextArea>
        )
      )}
    </>
  );
}

/** The approved senders and the route, which is preset if the sender has only one. */
function SenderFields({ at }: { readonly at: string }) {
  const own = useOwnSenders();
  const [typed, setTyped] = useState<string>();
  const [chosen, setChosen] = useState<string>();
  const [only, ...others] = own;
  const sender = typed ?? (others.length === 0 ? only?.sender : undefined) ?? '';
  const [route, ...more] = own.find((one) => one.sender === sender)?.routes ?? [];
  return (
    <>
      <Field
        name={`${at}sender`}
        label="Sender"
        value={sender}
        onInput={setTyped}
        offers={own.map((one) => one.sender)}
      >
        {own.length === 0 ? <NoSenders /> : 'One of yours, or another if your account may use any.'}
      </Field>
      <Select
        name={`${at}route`}
        label="Route"
        options={ROUTES}
        value={chosen ?? (more.length === 0 ? route : undefined) ?? 'transactional'}
        onInput={setChosen}
      />
    </>
  );
}

function NoSenders() {
  return (
    <>
      None of yours is approved yet: <a href="/dashboard/senders">see your senders</a>.
    </>
  );
}

const ROUTES = [
  ['transactional', 'Transactional'],
  ['promotional', 'Promotional'],
] as const;

/** Optional: a reference and a time. */
export function WhenFields() {
  return (
    <>
      <Field name="reference" label="Reference" optional>
        Your own name for it; search finds it.
      </Field>
      <Field name="schedule_time" label="Send at" optional type="datetime-local">
        Empty: now.
      </Field>
      <Select
        name="zone"
        label="Time zone"
        options={ZONES.map((zone) => [zone, zone] as const)}
        initial={homeZone(session.value?.account?.country)}
      />
    </>
  );
}

/** "GSM-7, 142 of 160 characters, 1 segment", and what makes a text more expensive. It counts as the gateway does. */
function Counter({ text }: { readonly text: string }) {
  const plan = planText(text);
  const { encoding, units, segments } = plan;
  const unicode = unicodeCharacters(text);
  return (
    <span role="status">
      {encoding === 'GSM7' ? 'GSM-7' : 'Unicode'}, {units} of {roomOf(plan)} characters, {counted(segments, 'segment')}.
      {unicode.length > 0 && (
        <>
          {' '}
          {unicode.slice(0, SHOWN).map(named).join(' ')} {unicode.length > SHOWN && '… '}
          {unicode.length === 1 ? 'makes' : 'make'} it Unicode: 70 characters in a segment instead of 160.
        </>
      )}
    </span>
  );
}

const SHOWN = 12;

/** The character, or its code point if it is invisible: `U+00A0`. */
function named(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return character.replace(UNSEEN, `U+${code}`);
}

/** The request body for one or many recipients, by SMS or chat app. */
export interface Content {
  readonly to?: string | readonly string[];
  /** Many recipients of a template, each with its own values. */
  readonly recipients?: readonly { readonly to: string }[];
  /** SMS only. */
  readonly sender?: string;
  readonly route?: string;
  readonly message?: string;
  readonly template_id?: string;
  readonly params?: readonly string[];
  readonly reference?: string | undefined;
  /** Makes it a schedule. */
  readonly schedule_time?: string | undefined;
}

/** The sender and content from the fields below `at`. */
export function smsOf(
  values: FormValues,
  at = '',
): Pick<Content, 'sender' | 'route' | 'message' | 'template_id' | 'params'> {
  const template = values.optional(`${at}template_id`);
  const params = templateValues(values.exact(`${at}params`));
  return {
    sender: values.text(`${at}sender`),
    route: values.text(`${at}route`),
    ...(template === undefined ? { message: values.exact(`${at}message`) } : { template_id: template }),
    ...(template !== undefined && params.length > 0 ? { params } : {}),
  };
}

export function contentOf(values: FormValues): Content {
  const time = values.optional('schedule_time');
  return {
    ...smsOf(values),
    reference: values.optional('reference'),
    schedule_time: time && instantIn(time, values.text('zone')),
  };
}
