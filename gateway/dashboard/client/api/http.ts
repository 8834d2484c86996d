import { type Signal, signal } from '@preact/signals';

/** Undefined and empty values are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Sent with requests that a page makes by itself, so that they do not keep the session alive. */
export const AUTOMATIC = { 'x-dashboard-auto': '1' } as const;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export function get<T>(
  path: string,
  query: Query = {},
  { signal, headers }: { readonly signal?: AbortSignal; readonly headers?: Record<string, string> } = {},
): Promise<T> {
  return call<T>('GET', path + queryText(query), undefined, headers, signal);
}

export function post<T>(path: string, body: object = {}): Promise<T> {
  return call<T>('POST', path, body);
}

/**
 * POSTs something new under an idempotency key, so pressing again after a lost answer creates it once. A refusal keeps
 * the key: it may answer the second press (in flight, too many requests) while the first was accepted.
 */
export async function create<T>(path: string, body: object): Promise<T> {
  const what = `${path} ${JSON.stringify(body)}`;
  const key = open.get(what) ?? randomKey();
  open.set(what, key);
  const made = await call<T>('POST', path, body, { 'Idempotency-Key': key });
  open.delete(what);
  return made;
}

export function patch<T>(path: string, body: object): Promise<T> {
  return call<T>('PATCH', path, body);
}

export function put<T>(path: string, body: object): Promise<T> {
  return call<T>('PUT', path, body);
}

export function remove<T = void>(path: string): Promise<T> {
  return call<T>('DELETE', path);
}

export function queryText(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(name, String(value));
  }
  return params.size === 0 ? '' : `?${params}`;
}

/**
 * When the session has ended, or the gateway wants the password again, a dialog over the page asks for it (what was
 * typed stays) and then the call is repeated.
 */
async function call<T>(
  method: Method,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<T> {
  const init: RequestInit = {
    method,
    // A form of another site cannot set `x-dashboard` (gateway/access/sessions.ts).
    headers: {
      ...{ ...headers, ...lookHeader(path), 'x-dashboard': '1' },
      // The gateway refuses requests from a page that was loaded for another user.
      ...(userId !== undefined && { 'x-dashboard-user': userId }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
  let answer = await reach(path, init);
  const isEnded = answer.status === 401 && userId !== undefined && !path.startsWith('/v2/session');
  if (isEnded && (await ask(signInAsked, answer.value?.code === 'other_user'))) answer = await reach(path, init);
  if (answer.value?.code === 'confirmation_required' && (await ask(confirmAsked))) answer = await reach(path, init);
  if (answer.ok) return answer.value as T; // /openapi.json defines each path's answer.
  throw new ApiProblem(answer.status, answer.value ?? {});
}

async function reach(path: string, init: RequestInit) {
  try {
    const response = await fetch(path, init);
    return { ok: response.ok, status: response.status, value: parse(await response.text()) };
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw noConnection();
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined; // A proxy's error page.
  }
}

/** Idempotency keys of attempts that are not accepted yet, by path and body. */
const open = new Map<string, string>();

/** `crypto.randomUUID` is missing on plain http. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One entry of `errors` in a problem answer. Entries of lists are named `to[3]`, members `buttons[0].title`. */
export interface FieldError {
  readonly field: string;
  readonly code: string;
  readonly detail: string;
}

/** An unsuccessful answer (RFC 9457). `status` is 0 when there was no answer. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | undefined;
  /** The whole problem, including members that only some problems have, such as `mismatch`. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(text(body.detail) ?? 'The answer cannot be read. Try again in a minute.');
    this.status = status;
    this.code = text(body.code) ?? 'unknown';
    this.title = text(body.title) ?? `Answer ${status}`;
    this.errors = Array.isArray(body.errors) ? body.errors : [];
    this.requestId = text(body.request_id);
    this.body = body;
  }
}

/** A mistake in a field that the client finds before it asks the gateway. */
export function fieldProblem(error: FieldError): ApiProblem {
  return new ApiProblem(400, { title: 'Invalid request', errors: [error] });
}

function noConnection(): ApiProblem {
  return new ApiProblem(0, {
    code: 'no_connection',
    title: 'No connection',
    detail: 'The gateway does not answer. Check your connection, then try again.',
  });
}

export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(-1, {
    code: 'client_error',
    title: 'The page has a fault',
    detail: `Reload the page. If it happens again, report this: ${String(error)}`,
  });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export interface Looked {
  readonly account_id: string;
  readonly name: string;
}

/** Paths that are about the user or about all accounts, never about the account that an operator looks at. */
const OWN = ['/v2/admin/', '/v2/session', '/v2/profile'] as const;

/** Whether pages show test messages and send in test mode (gateway/access/account.ts). */
export const testing = signal(false);

/** The account an operator looks at: answers are as for that account, and recorded (gateway/access/looking.ts). */
export const looking = signal<Looked | undefined>(undefined);

function lookHeader(path: string): Record<string, string> {
  const account = looking.value;
  if (OWN.some((own) => path.startsWith(own))) return {};
  return {
    ...(account !== undefined && { 'harkara-account': account.account_id }),
    ...(testing.value && { 'harkara-mode': 'test' }),
  };
}

/** The same as `lookHeader`, for URLs that a browser opens without headers. */
export function lookQuery(): { readonly account?: string; readonly mode?: 'test' } {
  return {
    ...(looking.value !== undefined && { account: looking.value.account_id }),
    ...(testing.value && { mode: 'test' }),
  };
}

/** A dialog over the page, shown by pages/sign-in.tsx. */
interface Asked {
  /** Somebody else has signed in in another tab: all tabs share one session. */
  readonly byOther: boolean;
  readonly resolve: (done: boolean) => void;
  /** True when the user did what was asked. */
  readonly answer: Promise<boolean>;
}

/** Set while the gateway wants the password again before it does something. */
export const confirmAsked = signal<Asked | undefined>(undefined);

/** Set while a page is open whose session has ended. */
export const signInAsked = signal<Asked | undefined>(undefined);

let userId: string | undefined;

/** From now on 401 means that the session has ended; before, that nobody is signed in. */
export function setSignedIn(as: string | undefined): void {
  userId = as;
}

/** Concurrent calls that need the same answer share one dialog. */
function ask(question: Signal<Asked | undefined>, byOther = false): Promise<boolean> {
  if (question.value !== undefined) return question.value.answer;
  let resolve = (_done: boolean) => {};
  const answer = new Promise<boolean>((answered) => {
    resolve = (done) => {
      question.value = undefined;
      answered(done);
    };
  });
  question.value = { byOther, resolve, answer };
  return answer;
}
