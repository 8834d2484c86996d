import type { Role } from '../../api/permission.ts';

/** The answer of `GET /v2/profile`. */
export interface Profile {
  readonly username: string;
  readonly name: string | null;
  readonly role: Role;
  readonly second_factor: { readonly since: string } | null;
  /** Whether the second factor cannot be removed, only replaced. */
  readonly second_factor_required: boolean;
  readonly password_changed_at: string | null;
  readonly recovery_codes_left: number;
}
