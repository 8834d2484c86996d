import { useEffect, useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Field, Select } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { Problem } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { CHAT_TEMPLATES_PATH, type ChatTemplate, filled, placeholderOf } from '../templates/chat-template.ts';
import { Phone } from '../templates/phone.tsx';

/** More than people choose from; who has more sends them by the API. */
const READ = 500;

interface ChatTemplateFieldsProps {
  /** The provider's business account of the number that it leaves from: its templates can be sent. Undefined while that is unknown. */
  readonly business: string | undefined;
  /** How many were sent by this form: the values of one message are not those of the next. */
  readonly sent?: number;
}

/** An approved template, a field for each of its values, and how it will look. */
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
          <Field name="header.latitude" label="Latitude" inputMode="numeric" hint="Degrees north, such as 19.0760." />
          <Field name="header.longitude" label="Longitude" inputMode="numeric" hint="Degrees east, such as 72.8777." />
          <Field name="header.name" label="Name of the place" />
          <Field name="header.address" label="Its address" />
        </>
      )}
      <Preview template={template} values={values} />
    </>
  );
}

/** What the form says, as `POST /v2/chatapp/send` wants it. */
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

/** Carousels, offers that end and products of the catalog are sent by programs: their values differ from customer to customer. */
function fitsForm({ cannot_be_sent: part, cards, offer, header, buttons }: ChatTemplate): boolean {
  const isProducts = header?.format === 'product' || buttons.some(({ type }) => type === 'mpm');
  return part === null && cards === null && !offer?.expires && !isProducts;
}

function keyOf({ name, language }: ChatTemplate): string {
  return `${name} ${language}`;
}

/** Values stand in the order of the template: header, body, buttons. */
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
