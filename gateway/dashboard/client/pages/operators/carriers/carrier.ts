import type { Tone } from '../../../parts/badge.tsx';
import { shortTime } from '../../../parts/time.tsx';

interface Trouble {
  readonly words: string;
  readonly since: string;
}

/** As `GET /v2/admin/carriers` shows it. */
export interface Carrier {
  readonly carrier_id: string;
  readonly name: string;
  readonly status: 'active' | 'paused';
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly system_id: string;
  readonly paths: readonly string[];
  readonly window_size: number;
  readonly per_second: number;
  readonly condition: string;
  readonly words: string;
  readonly binds: readonly {
    readonly index: number;
    readonly state: string;
    readonly since: string;
    readonly window_used: number | null;
    readonly trouble: Trouble | null;
    readonly last_trouble: Trouble | null;
  }[];
  readonly measured: {
    readonly since: string;
    readonly per_second: number | null;
    readonly answer_ms: { readonly p50: number; readonly p99: number } | null;
    readonly answers: Readonly<Record<string, number>>;
    readonly throttled: number;
    readonly receipts: Readonly<Record<string, number>>;
    readonly last_refusal: { readonly code: string; readonly reason: string; readonly at: string } | null;
  } | null;
  readonly unknowns: number;
}

export interface Setting {
  readonly name: string;
  readonly group: string;
  readonly about: string;
  readonly form: string;
  readonly value: string;
  readonly default: string | null;
  readonly choices: readonly string[] | null;
  readonly is_set: boolean;
  readonly secret: boolean;
  /** Whether the setting decides where the password is sent: a change of it needs the password too. */
  readonly needs_password: boolean;
}

/** As `GET /v2/admin/carriers/{carrier_id}` shows it. */
export interface CarrierDetail extends Carrier {
  readonly settings: readonly Setting[];
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
