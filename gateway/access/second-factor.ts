import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { isOperatorRole, type UserDocument } from '../../shared/people/users/user.ts';

/** Whether the user may do nothing before a second factor is set up (ASVS 5.0, 6.3.3). */
export function needsSecondFactor(
  { role }: Pick<UserDocument, 'role'>,
  account: Pick<AccountDocument, 'secondFactor'> | undefined,
): boolean {
  if (account?.secondFactor === 'exempt') return false;
  return isOperatorRole(role) || role === 'owner' || account?.secondFactor === 'required';
}
