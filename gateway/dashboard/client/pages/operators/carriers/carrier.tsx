import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { changeCarrier, listCarriers, showCarrier } from '../../../../../endpoints/carriers/carriers.ts';
import { post } from '../../../api/http.ts';
import { Field, Select, TextArea } from '../../../parts/field.tsx';
import { Notice } from '../../../parts/page.tsx';
import { CodeBlock, shortTime, type Tone } from '../../../parts/value.tsx';

/** As `GET /v2/admin/carriers` shows them, and the stream. */
export type Carriers = AnswerOf<typeof listCarriers>;
export type Carrier = Carriers['carriers'][number];

export type Setting = CarrierDetail['settings'][number];

/** As `GET /v2/admin/carriers/{carrier_id}` shows it. */
export type CarrierDetail = AnswerOf<typeof showCarrier>;

/** The answer to each change of one. */
export type ChangedCarrier = AnswerOf<typeof changeCarrier>;

const ACRONYMS: Readonly<Record<string, string>> = { dlt: 'DLT', tls: 'TLS', ca: 'CA', tlvs: 'TLVs', json: 'JSON' };

/** `windowSize` of the API, `--window-size` of `ops carrier`: "Window size". */
export function settingName(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
  const said = words.map((word) => ACRONYMS[word] ?? word).join(' ');
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** What the two kinds of carriers call the same things. */
export const WORDS = {
  smpp: { test: 'Test the bind', password: 'Password of the bind', newPassword: 'New password of the bind' },
  http: { test: 'Test the connection', password: 'Password or API key', newPassword: 'New password or API key' },
} as const;

export type Kind = Carrier['kind'];

export function kindOf(value: string | undefined): Kind {
  return value === 'http' ? 'http' : 'smpp';
}

/** Whether carriers of this kind have a use for the setting. */
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

/** Times of the API within words, as the viewer's clock shows them. */
export function readable(words: string): string {
  return words.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3}Z|\+00:00)/g, (at) => shortTime(at));
}

/** The tags that carriers use for DLT's ids. */
export const DLT_TAGS: readonly string[] = ['off', '0x1400,0x1401', '0x1400,0x1401,0x1402'];

interface SettingFieldProps {
  readonly setting: Setting;
  /** In place of its value. */
  readonly initial?: string | undefined;
}

/** One setting of a carrier, as its table says it. */
export function SettingField({ setting, initial }: SettingFieldProps) {
  const { name, about, form, choices, value, secret } = setting;
  const words = `${about.charAt(0).toUpperCase()}${about.slice(1)}.`;
  const field = {
    name: `settings.${name}`,
    label: settingName(name),
    hint: choices === null ? `${words} It must be ${form}.` : words,
  };
  if (secret) return <TextArea {...field} hint={`${words} Paste the PEM text, or write off.`} rows={8} />;
  if (choices === null) {
    return <Field {...field} initial={initial ?? value} offers={name === 'dlt' ? DLT_TAGS : []} />;
  }
  return <Select {...field} options={choices.map((one) => [one, one] as const)} initial={initial ?? value} />;
}

/** As `POST /v2/admin/carriers/test` answers; its declaration stands beside SMPP, whose types a browser has not. */
export interface BindTest {
  readonly ok: boolean;
  readonly words: string;
  readonly pdus: readonly string[];
}

/** Binds with settings that nobody has saved, and unbinds. What is left out is as stored. */
export function testBind(asked: object): Promise<BindTest> {
  return post<BindTest>('/v2/admin/carriers/test', asked);
}

/** What the carrier said to the bind, and every PDU of it. */
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
