import { signal } from '@preact/signals';

/** The account that an operator looks at. */
export interface Looked {
  readonly account_id: string;
  readonly name: string;
}

/** Who is signed in, whatever account is looked at, and what concerns all accounts. */
const OWN = ['/v2/admin/', '/v2/session', '/v2/profile'] as const;

/** Whether pages show tests: what test keys sent, and what was sent in this mode (gateway/access/account.ts). */
export const testing = signal(false);

/** Undefined: none. The gateway answers as it answers the account, and records what was looked at (gateway/access/looking.ts). */
export const looking = signal<Looked | undefined>(undefined);

/** For calls of the API: in which account, and whether of tests. */
export function lookHeader(path: string): Record<string, string> {
  const account = looking.value;
  if (OWN.some((own) => path.startsWith(own))) return {};
  return {
    ...(account !== undefined && { 'harkara-account': account.account_id }),
    ...(testing.value && { 'harkara-mode': 'test' }),
  };
}

/** The same for what a browser opens without headers. */
export function lookQuery(): { readonly account?: string; readonly mode?: 'test' } {
  return {
    ...(looking.value !== undefined && { account: looking.value.account_id }),
    ...(testing.value && { mode: 'test' }),
  };
}
