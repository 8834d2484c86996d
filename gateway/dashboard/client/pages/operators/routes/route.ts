import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { putRoute, routes } from '../../../../../endpoints/routing/routes.ts';

/** As `GET /v2/admin/routes` shows them. */
export type Routes = AnswerOf<typeof routes>;
export type Route = Routes['routes'][number];

export type ChangedRoute = AnswerOf<typeof putRoute>;

/** The conditions that are lists of words. */
export const CONDITIONS = [
  ['countries', 'Countries', 'Two letters, with commas: IN, AE'],
  ['prefixes', 'Prefixes', 'First digits, country code first: 9198'],
  ['senders', 'Senders', 'HARKRA, HRKOTP'],
] as const;

export function several(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** The conditions of which one ticks some. */
export const CHOICES = [
  [
    'routes',
    'Routes of messages',
    [
      ['transactional', 'Transactional'],
      ['promotional', 'Promotional'],
    ],
  ],
  [
    'priorities',
    'Priorities',
    [
      ['otp', 'OTP'],
      ['normal', 'Normal'],
      ['low', 'Low'],
    ],
  ],
  [
    'senderKinds',
    'Kinds of senders',
    [
      ['name', 'Names'],
      ['number', 'Numbers'],
      ['short', 'Short codes'],
    ],
  ],
] as const;
