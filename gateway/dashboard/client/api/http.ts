import { lookHeader } from './looking.ts';
import { ApiProblem, noConnection } from './problem.ts';
import { confirmAgain, signInAgain, userHeader } from './signed-in.ts';

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
  const attempt = newIdempotencyKey(path, body);
  return attempt.accepted(await call<T>('POST', path, body, { 'Idempotency-Key': attempt.key }));
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
      ...{ ...headers, ...userHeader(), ...lookHeader(path), 'x-dashboard': '1' },
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
  let answer = await reach(path, init);
  if (answer.status === 401 && (await signInAgain(path, answer.value?.code === 'other_user'))) {
    answer = await reach(path, init);
  }
  if (answer.value?.code === 'confirmation_required' && (await confirmAgain())) answer = await reach(path, init);
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

/** Keys of attempts that are not accepted yet, by what they try to make. */
const open = new Map<string, string>();

interface Attempt {
  readonly key: string;
  /** The gateway accepted it: the next attempt is another one. */
  accepted<T>(answer: T): T;
}

/** The same attempt made again after a lost answer has the same key. */
function newIdempotencyKey(path: string, body: object): Attempt {
  const what = `${path} ${JSON.stringify(body)}`;
  const key = open.get(what) ?? randomKey();
  open.set(what, key);
  return {
    key,
    accepted: (answer) => {
      open.delete(what);
      return answer;
    },
  };
}

/** `crypto.randomUUID` is missing on plain http. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
