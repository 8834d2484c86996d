import { signal } from '@preact/signals';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { ownSession } from '../../../endpoints/sign-in/session.ts';
import { ApiProblem, get, type Looked, looking, post, remove, setSignedIn, testing } from './http.ts';
import type { Permission } from './permission.ts';

type Session = AnswerOf<typeof ownSession>;

/** Undefined until the gateway has answered; null when nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** Prefills the sign-in form for a user who has just chosen a password by a link. */
export const newcomer = signal('');

/** Throws if the gateway does not answer. Does not ask if the page has `data-nobody` (gateway/dashboard/serve.ts). */
export async function loadSession(): Promise<void> {
  const { dataset } = document.documentElement;
  if ('nobody' in dataset) {
    delete dataset.nobody; // After a sign-in the page may ask again.
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

/** Also if the session has ended already, so that the page shows nothing of the account any more. */
export async function signOut(): Promise<void> {
  try {
    await remove('/v2/session');
  } catch (error) {
    if (!isSignedOut(error)) throw error;
  }
  setSession(null);
}

/** Whether the user has all of these permissions. It only hides what the gateway would refuse on the call. */
export function may(...needed: readonly Permission[]): boolean {
  const scopes = session.value?.scopes ?? [];
  return needed.every((one) => scopes.includes(one) || (one === 'read' && looking.value !== undefined));
}

export function mayAny(...needed: readonly Permission[]): boolean {
  return needed.some((one) => may(one));
}

/** Operators have no account of their own, only the one that they look at. */
export function hasAccount(): boolean {
  return session.value?.account != null || looking.value !== undefined;
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 401;
}

function setSession(now: Session | null): void {
  if (!now?.scopes.includes('admin:look')) lookAt(undefined);
  else looking.value ??= lookedAt();
  testing.value = now !== null && sessionStorage.getItem(TESTING) !== null;
  setSignedIn(now?.user.user_id);
  session.value = now;
}

const LOOKING = 'looking';
const TESTING = 'testing';

/** Kept for this tab alone. */
export function showTests(are: boolean): void {
  if (are) sessionStorage.setItem(TESTING, '1');
  else sessionStorage.removeItem(TESTING);
  testing.value = are;
}

/** Kept for this tab alone, so that two tabs can show two accounts. */
export function lookAt(account: Looked | undefined): void {
  if (account === undefined) sessionStorage.removeItem(LOOKING);
  else sessionStorage.setItem(LOOKING, JSON.stringify({ account_id: account.account_id, name: account.name }));
  looking.value = account;
}

function lookedAt(): Looked | undefined {
  return JSON.parse(sessionStorage.getItem(LOOKING) ?? 'null') ?? undefined;
}
