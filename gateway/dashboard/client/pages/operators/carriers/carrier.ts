import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { changeCarrier, listCarriers, showCarrier } from '../../../../../endpoints/carriers/carriers.ts';
import type { Tone } from '../../../parts/badge.tsx';
import { shortTime } from '../../../parts/time.tsx';

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
