import { signal } from '@preact/signals';

/** The account that an operator looks at. */
export interface Looked {
  readonly account_id: string;
  readonly name: string;
}

/** Who is signed in, whatever account is looked at, and what concerns all accounts. */
const OWN = ['/v2/admin/', '/v2/session', '/v2/profile'] as const;

/** Undefined: none. The gateway answers as it answers the account, and records what was looked at (gateway/access/looking.ts). */
export const looking = signal<Looked | undefined>(undefined);

/** For calls of the API: in which account. */
export function lookHeader(path: string): Record<string, string> {
  const account = looking.value;
  if (account === undefined || OWN.some((own) => path.startsWith(own))) return {};
  return { 'harkara-account': account.account_id };
}

/** The same for what a browser opens without headers. */
export function lookQuery(): { readonly account?: string } {
  return looking.value === undefined ? {} : { account: looking.value.account_id };
}
