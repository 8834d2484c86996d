import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { anyUsers } from '../../../../endpoints/operators/users.ts';
import type { userLink } from '../../../../endpoints/users/change-user.ts';
import type { users } from '../../../../endpoints/users/users.ts';
import type { Tone } from '../../parts/badge.tsx';

/** As `GET /v2/account/users` answers. */
export type User = EntryOf<typeof users> | AnyUser;

export type UserLink = AnswerOf<typeof userLink>;

export const STATUS_TONES: Readonly<Record<User['status'], Tone>> = {
  invited: 'info',
  active: 'good',
  disabled: 'bad',
};

export const ROLES = [
  ['viewer', 'Viewer: sees everything, changes nothing'],
  ['sender', 'Sender: also sends messages'],
  ['developer', 'Developer: also keys, webhooks and templates'],
  ['owner', 'Owner: also users and the account'],
] as const;

/** As `GET /v2/admin/users` answers. */
export type AnyUser = EntryOf<typeof anyUsers>;
