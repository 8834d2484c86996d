type OperatorScope = 'admin:read' | 'admin:look' | 'admin:support' | 'admin:money' | 'admin:routing';
/** Scopes are those of keys; `owner` is what no key has. */
export type Permission = 'read' | 'send' | 'otp' | 'manage' | 'owner' | OperatorScope;
