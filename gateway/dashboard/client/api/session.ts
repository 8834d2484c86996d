import { signal } from '@preact/signals';
import { get, post, remove } from './http.ts';
import type { Permission, Role } from './permission.ts';
import { ApiProblem } from './problem.ts';
import { setSignedIn } from './signed-in.ts';

export interface Session {
  readonly session_id: string;
  readonly user: {
    readonly user_id: string;
    readonly username: string;
    readonly name: string | null;
    readonly role: Role;
    readonly second_factor: boolean;
  };
  /** Operators belong to no account. */
  readonly account: { readonly account_id: string; readonly name: string; readonly country: string | null } | null;
  readonly scopes: readonly Permission[];
  /** What must be done before anything else. */
  readonly missing: readonly 'second_factor'[];
  readonly expires_at: string;
}

/** Undefined until the gateway has said it; null when nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** The sign-in name of a user who has just chosen a password by a link; the sign-in form begins with it. */
export const newcomer = signal('');

/** Asks who is signed in, unless the page says that nobody is (`data-nobody`, gateway/dashboard/serve.ts). Throws when the gateway does not say. */
export async function loadSession(): Promise<void> {
  const { dataset } = document.documentElement;
  if ('nobody' in dataset) {
    delete dataset.nobody; // The page may ask again after somebody has signed in.
    return setSession(null);
  }
  try {
    setSession(await get<Session>('/v2/session'));
  } catch (error) {
    if (!isSignedOut(error)) throw error;
    setSession(null);
  }
}

export async function signIn(credentials: object): Promise<void> {
  setSession(await post<Session>('/v2/session', credentials));
}

/** Also when the session has ended already: the page may show nothing of the account any more. */
export async function signOut(): Promise<void> {
  try {
    await remove('/v2/session');
  } catch (error) {
    if (!isSignedOut(error)) throw error;
  }
  setSession(null);
}

/** Whether the user has all of these. The gateway decides again on each call; this only hides what would be refused. */
export function may(...needed: readonly Permission[]): boolean {
  const scopes = session.value?.scopes ?? [];
  return needed.every((permission) => scopes.includes(permission));
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 401;
}

function setSession(now: Session | null): void {
  setSignedIn(now?.user.user_id);
  session.value = now;
}
