type OperatorScope = 'admin:read' | 'admin:look' | 'admin:support' | 'admin:money' | 'admin:routing';
/** The scopes of keys, and `owner`, which no key has. */
export type Permission = 'read' | 'send' | 'otp' | 'manage' | 'owner' | OperatorScope;

/** Who has a permission, in words (gateway/access/scopes.ts). */
const WHO: Readonly<Record<Permission, string>> = {
  read: 'users of an account',
  send: 'senders, developers and owners',
  otp: 'senders, developers and owners',
  manage: 'developers and owners',
  owner: 'owners',
  'admin:read': 'operators',
  'admin:look': 'operators who answer customers',
  'admin:support': 'operators',
  'admin:money': 'operators',
  'admin:routing': 'operators',
};

/** Says whom a page is for and how to get access. No owner can make an operator, and operators have no owner. */
export function whoMay(needs: Permission, hasAccount: boolean): string {
  const only = `This page is for ${WHO[needs]} only.`;
  return needs.startsWith('admin:') || !hasAccount ? only : `${only} Ask an owner of your account for that role.`;
}
