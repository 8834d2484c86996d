import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { changeCarrier, listCarriers, showCarrier } from '../../../../endpoints/carriers/carriers.ts';
import type { carrierForm } from '../../../../endpoints/carriers/new-carrier.ts';
import { post } from '../../api/http.ts';
import { useLive } from '../../api/live.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { Field, Select, TextArea } from '../../parts/field.tsx';
import { Dialog, Form, type FormValues, toast, useClosing, useDialog } from '../../parts/form.tsx';
import { Table } from '../../parts/list.tsx';
import { Empty, Loading, Notice, PageHead } from '../../parts/page.tsx';
import { AddButton, Badge, CodeBlock, Facts, number, shortTime, type Tone } from '../../parts/value.tsx';

export function CarriersPage() {
  const loaded = useLoad<Carriers>('/v2/admin/carriers');
  const live = useLive<Carriers>('carriers');
  const [dialog, open] = useDialog();
  const add = may('admin:routing') && <AddButton onClick={() => open(<CreateCarrierDialog />)}>Add carrier</AddButton>;
  return (
    <>
      <PageHead
        title="Carriers"
        lead="Who delivers SMS, and whether each is bound. It changes while you look."
        actions={add}
      />
      <Loading of={loaded}>
        {(data) => {
          const { carriers } = live ?? data;
          return carriers.length === 0 ? (
            <Empty icon="carrier" action={add}>
              No carriers yet. Without one, what is accepted waits.
            </Empty>
          ) : (
            <CarrierTable carriers={carriers} />
          );
        }}
      </Loading>
      {dialog}
    </>
  );
}

function CarrierTable({ carriers }: Carriers) {
  return (
    <Table
      caption="Carriers"
      rows={carriers}
      rowKey={({ carrier_id }) => carrier_id}
      columns={[
        { head: 'Carrier', cell: (row) => <a href={`/dashboard/admin/carriers/${row.carrier_id}`}>{row.name}</a> },
        {
          head: 'Status',
          cell: ({ condition, words }) => (
            <>
              <Badge tone={toneOf(condition)}>{condition.replaceAll('_', ' ')}</Badge>{' '}
              {readable(words).replace(/^bound /, '')}
            </>
          ),
        },
        {
          head: 'Window used',
          kind: 'number',
          cell: ({ binds, window_size: size }) =>
            binds.length === 0
              ? '–'
              : `${number(binds.reduce((sum, { window_used: used }) => sum + (used ?? 0), 0))} of ${number(size * binds.length)}`,
        },
        { head: 'Rate', cell: rateOf },
        {
          head: 'Answers p50, p99',
          cell: ({ measured }) =>
            measured?.answer_ms == null ? '–' : `${measured.answer_ms.p50} and ${measured.answer_ms.p99} ms`,
        },
        { head: 'Throttled', kind: 'number', cell: ({ measured }) => number(measured?.throttled ?? 0) },
        { head: 'Never answered', kind: 'number', cell: ({ unknowns }) => number(unknowns) },
      ]}
    />
  );
}

type CarrierForm = AnswerOf<typeof carrierForm>;

/** UTC offset in minutes: carriers in India write receipt times in IST. */
const INDIAN_TIME = '330';

function CreateCarrierDialog() {
  const form = useLoad<CarrierForm>('/v2/admin/carrier-form');
  return (
    <Dialog title="Add a carrier" side="right">
      <Loading of={form}>{(data) => <CarrierFields form={data} />}</Loading>
    </Dialog>
  );
}

function CarrierFields({ form }: { readonly form: CarrierForm }) {
  const onCancel = useClosing();
  const { route } = useLocation();
  const [preset, setPreset] = useState('');
  const [kind, setKind] = useState<Kind>('smpp');
  const [dlt, setDlt] = useState<string>();
  const [tested, setTested] = useState<BindTest>();
  const chosen = form.presets.find((one) => one.preset === preset);
  const ofPreset = chosen?.settings ?? {};
  const tags = kind === 'http' ? 'off' : (dlt ?? ofPreset.dlt ?? 'off');
  const asked = (values: FormValues) => ({
    ...(preset !== '' && { preset }),
    password: values.exact('password'),
    settings: settingsOf(form, values, ofPreset),
  });
  const test = async (values: FormValues) => {
    setTested(undefined);
    setTested(await testBind(asked(values)));
  };
  const save = async (values: FormValues) => {
    const { carrier } = await post<ChangedCarrier>('/v2/admin/carriers', {
      carrier_id: values.text('carrier_id'),
      name: values.optional('name'),
      ...asked(values),
    });
    toast(`${carrier.name} is added. A worker connects to it within seconds.`);
    route(`/dashboard/admin/carriers/${carrier.carrier_id}`);
  };
  const fields = (which: (setting: Setting) => boolean) =>
    form.settings
      .filter(which)
      .map((one) => <SettingField key={`${one.name} ${preset}`} setting={one} initial={ofPreset[one.name]} />);
  const isOpen = ({ group, name }: Setting) => group === 'connection' || name === 'tls';
  const hasField = (one: Setting) => isOpen(one) || ['http', 'dlt'].includes(one.group) || one.name === 'kind';
  return (
    <Form
      submit={WORDS[kind].test}
      look="plain"
      onSubmit={test}
      next={{ words: 'Add carrier', act: save }}
      onCancel={onCancel}
    >
      <Field name="carrier_id" label="Short name" mono>
        1 to 32 of a-z, 0-9 and -. It stands in routes and metrics.
      </Field>
      <Field name="name" label="Name" optional>
        What people call it.
      </Field>
      <Select
        name="preset"
        label="Preset"
        options={[['', 'None'], ...form.presets.map((one) => [one.preset, `${one.preset}: ${one.about}`] as const)]}
        value={preset}
        onInput={(name) => {
          setPreset(name);
          setKind(kindOf(form.presets.find((one) => one.preset === name)?.settings.kind));
        }}
      >
        {chosen ? <a href={chosen.source}>{chosen.source}</a> : 'What the pages of a known carrier ask for.'}
      </Select>
      <Select
        name="settings.kind"
        label="Kind"
        options={[
          ['smpp', 'SMPP'],
          ['http', 'HTTPS: a request for each message'],
        ]}
        value={kind}
        onInput={(value) => setKind(kindOf(value))}
      >
        How it is reached.
      </Select>
      {chosen && (
        <Facts
          facts={form.settings
            .filter((one) => ofPreset[one.name] !== undefined && !hasField(one))
            .map(({ name }) => [settingName(name), <code>{ofPreset[name]}</code>] as const)}
        />
      )}
      {fields(isOpen)}
      <Field name="password" label={WORDS[kind].password} type="password" autoComplete="new-password">
        It is stored encrypted and never shown.
      </Field>
      {kind === 'smpp' && (
        <Field name="settings.dlt" label="DLT ids (India)" value={tags} onInput={setDlt} offers={DLT_TAGS} mono>
          Tags of the TLVs with PE id, template id and perhaps hash; off outside India. Most carriers: 0x1400,0x1401.
        </Field>
      )}
      {tags !== 'off' && fields(({ name }) => name === 'dltForm' || name === 'dltChain')}
      {kind === 'http' && (
        <details open={chosen === undefined}>
          <summary>Request, answer and receipts</summary>
          <div class="stack">{fields(({ group }) => group === 'http')}</div>
        </details>
      )}
      <details>
        <summary>More settings</summary>
        <div class="stack">
          {form.settings
            .filter((one) => one.group === 'basics' && one.name !== 'kind' && !isOpen(one) && isOf(kind, one))
            .map((one) => (
              <SettingField
                key={`${one.name} ${preset} ${one.name === OFFSET ? tags === 'off' : ''}`}
                setting={one}
                initial={ofPreset[one.name] ?? (one.name === OFFSET && tags !== 'off' ? INDIAN_TIME : undefined)}
              />
            ))}
          <p class="hint">All others are on the carrier's page when it is added.</p>
        </div>
      </details>
      {tested && <BindTestResult of={tested} />}
    </Form>
  );
}

const OFFSET = 'receiptOffsetMinutes';

/** Only the settings that differ from the defaults and the preset. */
function settingsOf(form: CarrierForm, values: FormValues, preset: CarrierForm['presets'][number]['settings']) {
  const given = form.settings.flatMap(({ name, value }) => {
    const field = `settings.${name}`;
    const text = values.text(field);
    return values.has(field) && text !== (preset[name] ?? value) ? [[name, text] as const] : [];
  });
  return Object.fromEntries(given);
}

export type Carriers = AnswerOf<typeof listCarriers>;
export type Carrier = Carriers['carriers'][number];

export type Setting = CarrierDetail['settings'][number];

export type CarrierDetail = AnswerOf<typeof showCarrier>;
export type ChangedCarrier = AnswerOf<typeof changeCarrier>;

const ACRONYMS: Readonly<Record<string, string>> = { dlt: 'DLT', tls: 'TLS', ca: 'CA', tlvs: 'TLVs', json: 'JSON' };

/** `windowSize` of the API, `--window-size` of `ops carrier`: "Window size". */
export function settingName(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
  const said = words.map((word) => ACRONYMS[word] ?? word).join(' ');
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** Wording for each kind of carrier. */
export const WORDS = {
  smpp: { test: 'Test the bind', password: 'Password of the bind', newPassword: 'New password of the bind' },
  http: { test: 'Test the connection', password: 'Password or API key', newPassword: 'New password or API key' },
} as const;

export type Kind = Carrier['kind'];

function kindOf(value: string | undefined): Kind {
  return value === 'http' ? 'http' : 'smpp';
}

/** Whether the setting applies to this kind of carrier. */
export function isOf(kind: Kind, { smpp_only: smppOnly }: Setting): boolean {
  return kind === 'smpp' || !smppOnly;
}

export function toneOf(condition: string): Tone {
  if (condition === 'bound') return 'good';
  if (condition === 'paused') return 'plain';
  return condition === 'partly_bound' || condition === 'binding' ? 'warn' : 'bad';
}

export function rateOf({ measured, per_second: limit }: Carrier): string {
  if (measured?.per_second == null) return limit === 0 ? 'no limit' : `${limit} a second`;
  return `${measured.per_second} a second${measured.per_second === limit ? '' : ', learned'}`;
}

/** Replaces ISO times within a text by local ones. */
export function readable(words: string): string {
  return words.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3}Z|\+00:00)/g, (at) => shortTime(at));
}

/** Common TLV tags for DLT's ids. */
const DLT_TAGS: readonly string[] = ['off', '0x1400,0x1401', '0x1400,0x1401,0x1402'];

interface SettingFieldProps {
  readonly setting: Setting;
  /** Overrides the setting's value. */
  readonly initial?: string | undefined;
}

export function SettingField({ setting, initial }: SettingFieldProps) {
  const { name, about, form, choices, value, secret } = setting;
  const words = `${about.charAt(0).toUpperCase()}${about.slice(1)}.`;
  const field = { name: `settings.${name}`, label: settingName(name), initial: initial ?? value };
  if (secret) {
    return (
      <TextArea {...field} initial="" rows={8}>
        {words} Paste the PEM text, or write off.
      </TextArea>
    );
  }
  if (choices !== null) {
    return (
      <Select {...field} options={choices.map((one) => [one, one] as const)}>
        {words}
      </Select>
    );
  }
  return (
    <Field {...field} offers={name === 'dlt' ? DLT_TAGS : []}>
      {words} It must be {form}.
    </Field>
  );
}

/** The answer of `POST /v2/admin/carriers/test`. Its declaration imports SMPP types that a browser does not have. */
export interface BindTest {
  readonly ok: boolean;
  readonly words: string;
  readonly pdus: readonly string[];
}

/** Binds with unsaved settings and unbinds. Settings left out are as stored. */
export function testBind(asked: object): Promise<BindTest> {
  return post<BindTest>('/v2/admin/carriers/test', asked);
}

/** The carrier's answer to the bind, and every PDU. */
export function BindTestResult({ of }: { readonly of: BindTest }) {
  return (
    <div class="stack" role="status">
      <Notice tone={of.ok ? 'good' : 'bad'}>
        {of.ok && of.pdus.length > 0 ? 'The carrier accepted the bind.' : of.words}
      </Notice>
      {of.pdus.length > 0 && <CodeBlock text={of.pdus.join('\n')} label="PDUs of the bind" />}
    </div>
  );
}
