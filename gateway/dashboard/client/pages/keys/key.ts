import type { Tone } from '../../parts/badge.tsx';

/** As `GET /v2/account/keys` shows it. */
export interface Key {
  readonly key_id: string;
  readonly prefix: string;
  readonly state: 'active' | 'expired' | 'revoked';
  readonly name: string;
  readonly scopes: readonly string[];
  readonly per_minute: number;
  readonly allowed_ips: readonly string[] | null;
  readonly created_at: string;
  readonly created_by: { readonly kind: string; readonly id: string; readonly name: string | null } | null;
  readonly expires_at: string | null;
  readonly last_used: string | null;
  readonly last_address: string | null;
  readonly requests_24h: number;
  readonly rotated_from: string | null;
  readonly rotated_to: string | null;
}

/** One key, with those that it made and that work. */
export interface KeyDetail extends Key {
  readonly descendants: readonly { readonly key_id: string; readonly name: string }[];
}

/** The answer that has the whole key, this once. */
export interface CreatedKey extends Key {
  readonly key: string;
}

export const STATE_TONES: Readonly<Record<Key['state'], Tone>> = { active: 'good', expired: 'plain', revoked: 'plain' };

const DAY_MS = 86_400_000;
/** In how many days a new key may end, for people to choose from. */
export const LIVES = [
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

/** The field of the request, if one was chosen. */
export function endOf(days: string | undefined, nowMs: number): { readonly expires_at?: string } {
  return days ? { expires_at: new Date(nowMs + Number(days) * DAY_MS).toISOString() } : {};
}

export const SCOPES = [
  { value: 'send', label: 'send', hint: 'Send messages.' },
  { value: 'read', label: 'read', hint: 'Read messages, lists and the balance.' },
  { value: 'otp', label: 'otp', hint: 'Use the most urgent priority, for one-time passwords. Needs send too.' },
  { value: 'manage', label: 'manage', hint: 'Change settings: keys, webhooks, templates.' },
];

/** What a first call with the key looks like. */
export function curlOf(key: string, scopes: readonly string[]): string {
  const [path, body] = scopes.includes('read')
    ? ['/v2/balance', '']
    : [
        '/v2/send',
        ` \\\n  -H 'Content-Type: application/json' -d '{"to":"91…","message":"…","sender":"…","route":"transactional"}'`,
      ];
  return `curl -s ${location.origin}${path} -H 'Authorization: Bearer ${key}'${body}`;
}
