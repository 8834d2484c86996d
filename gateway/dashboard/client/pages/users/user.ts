import type { Role } from '../../api/permission.ts';
import type { Tone } from '../../parts/badge.tsx';

/** As `GET /v2/account/users` answers. */
export interface User {
  readonly user_id: string;
  readonly username: string;
  readonly name: string | null;
  readonly role: Role;
  readonly status: 'invited' | 'active' | 'disabled';
  readonly second_factor: boolean;
  readonly last_sign_in_at: string | null;
}

export interface UserLink {
  readonly link: string;
  readonly link_expires_at: string;
}

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
export interface AnyUser extends User {
  /** Null: an operator. */
  readonly account_id: string | null;
}
