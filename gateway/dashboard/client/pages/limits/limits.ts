/** `GET /v2/account/limits`, and what operators see of an account. */
export interface Limits extends Caps {
  readonly countries: readonly string[] | null;
  readonly recipient_per_hour: number | null;
  readonly brake: Brake;
  readonly keys: readonly KeyCaps[];
  readonly holds: readonly Hold[];
}

export interface Caps {
  readonly day: Cap;
  readonly month: Cap;
}

export interface Cap {
  readonly cap: number | null;
  readonly spent: number;
  readonly resets_on: string;
}

export interface KeyCaps extends Caps {
  readonly key_id: string;
  readonly name: string;
}

export type Brake = 'off' | 'watch' | 'hold';

/** A prefix whose traffic looks like fraud. */
export interface Hold {
  readonly prefix: string;
  readonly country: string | null;
  readonly state: 'watched' | 'held' | 'released';
  readonly since: string;
  readonly messages: number;
  readonly portion: number;
  readonly delivered: number;
  readonly usual_messages: number;
  readonly usual_portion: number;
  readonly usual_delivered: number;
  readonly released: { readonly at: string; readonly by: string; readonly reason: string } | null;
}

export const BRAKES: readonly (readonly [Brake, string])[] = [
  ['off', 'Off'],
  ['watch', 'Watch: show what looks like fraud'],
  ['hold', 'Hold: refuse sends to it until a person releases it'],
];

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' });

/** `AE` as `United Arab Emirates (AE)`. */
export function countryName(code: string): string {
  return `${COUNTRY_NAMES.of(code)} (${code})`;
}

/** A part of 1 as `4 %`. */
export function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}
