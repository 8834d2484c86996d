import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { createKey, keys, showKey } from '../../../../endpoints/keys/keys.ts';
import type { Tone } from '../../parts/badge.tsx';

/** As `GET /v2/account/keys` shows it. */
export type Key = EntryOf<typeof keys>;

/** One key, with those that it made and that work. */
export type KeyDetail = AnswerOf<typeof showKey>;

/** The answer that has the whole key, this once. */
export type CreatedKey = AnswerOf<typeof createKey>;

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
