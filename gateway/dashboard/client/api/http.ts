import { type Signal, signal } from '@preact/signals';

/** Undefined and empty values are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The header of a request that a page makes by itself: it does not keep the session from ending. */
export const AUTOMATIC = { 'x-dashboard-auto': '1' } as const;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Calls of the API. Each gives the body of the answer, or throws an `ApiProblem`. */
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
 * A POST that makes something: pressed again after a lost answer, it makes nothing twice. A refusal keeps the key: it may be of
 * the second press (in flight, too many requests), while the first one was accepted.
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
 * When the session has ended, the user signs in over the page, which keeps what was typed, and the call is made again. The same when
 * the gateway wants the password again before it does this.
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
      // For whom this page is: the gateway refuses what comes from a page of somebody else.
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
  if (answer.ok) return answer.value as T; // /openapi.json says what each path answers.
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
    return undefined; // A proxy's page.
  }
}

/** Keys of attempts that are not accepted yet, by what they try to make: made again after a lost answer, it has the same key. */
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

/** An answer that is not a success (RFC 9457), or none at all: then `status` is 0. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | undefined;
  /** Members beyond those of every problem, such as `mismatch`. */
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

/** What is wrong with a field, and the gateway cannot see. */
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

/** Whatever was thrown, as something to show. */
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
function lookHeader(path: string): Record<string, string> {
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

/** A question over the page, which pages/sign-in.tsx asks. */
interface Asked {
  /** Somebody else has signed in in another tab: all tabs have one session. */
  readonly byOther: boolean;
  readonly resolve: (done: boolean) => void;
  /** True when the user has done what is asked for. */
  readonly answer: Promise<boolean>;
}

/** The gateway wants the password again before it does something. */
export const confirmAsked = signal<Asked | undefined>(undefined);

/** The session ended while a page was open. */
export const signInAsked = signal<Asked | undefined>(undefined);

let userId: string | undefined;

/** From now on an answer 401 means that the session has ended. Before, it means that there is none yet. */
export function setSignedIn(as: string | undefined): void {
  userId = as;
}

/** Calls that need the same together ask once. */
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
