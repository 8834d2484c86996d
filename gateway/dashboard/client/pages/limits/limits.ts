import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { accountLimits } from '../../../../endpoints/limits/limits.ts';

/** `GET /v2/account/limits`, and what operators see of an account. */
export type Limits = AnswerOf<typeof accountLimits>;

export type Caps = Pick<Limits, 'day' | 'month'>;

export type Cap = Limits['day'];

export type KeyCaps = Limits['keys'][number];

/** A prefix whose traffic looks like fraud. */
export type Hold = Limits['holds'][number];

export const BRAKES: readonly (readonly [Limits['brake'], string])[] = [
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
