import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { AUTOMATIC, get, type Query, queryText } from './http.ts';
import { type ApiProblem, asProblem } from './problem.ts';

interface Again {
  /** Reads again; what is shown stays until the answer comes. */
  readonly reload: () => void;
  /** The same, because the stream told of something. It does not count as an act of the user, so the session may end meanwhile. */
  readonly follow: () => void;
}

export interface Loaded<T> extends Again {
  readonly data: T | undefined;
  /** Why there is no data, or why it could not be read anew. */
  readonly problem: ApiProblem | undefined;
  /** Shows this from now on, for what an answer has just said. */
  readonly setData: (data: T) => void;
}

/** What goes with each call of a reading. */
export interface Calls {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
}

interface Reading<T> {
  /** `isFollowing`: nothing but the stream asks for it. */
  readonly read: (calls: Calls, isFollowing: boolean) => Promise<T>;
  readonly show: (answer: T, isFollowing: boolean) => void;
  readonly fail: (problem: ApiProblem) => void;
}

/** Reads when the component appears, when `url` changes, and again when it is asked to. Only the last answer is shown. */
export function useReading<T>(url: string, { read, show, fail }: Reading<T>): Again {
  const [times, setTimes] = useState(0);
  const follows = useRef(false);
  /** True until what the user asked for is answered. A `follow` that begins the read anew in between counts as asked for too. */
  const isAwaited = useRef(true);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const headers: Record<string, string> = follows.current ? AUTOMATIC : {};
    if (!follows.current) isAwaited.current = true;
    follows.current = false;
    const isFollowing = !isAwaited.current;
    const end = (tell: () => void) => {
      if (signal.aborted) return;
      isAwaited.current = false;
      tell();
    };
    read({ signal, headers }, isFollowing).then(
      (answer) => end(() => show(answer, isFollowing)),
      (error) => end(() => fail(asProblem(error))),
    );
    return () => leaving.abort();
  }, [url, times]);
  const again = useCallback((isFollow: boolean) => {
    follows.current = isFollow;
    if (!isFollow) isAwaited.current = true;
    setTimes((count) => count + 1);
  }, []);
  return { reload: useCallback(() => again(false), [again]), follow: useCallback(() => again(true), [again]) };
}

/** Reads `path` when the component appears, and when path or query change. */
export function useLoad<T>(path: string, query: Query = {}): Loaded<T> {
  const url = path + queryText(query);
  const [state, setState] = useState<{ url?: string; data?: T; problem?: ApiProblem }>({});
  const again = useReading<T>(url, {
    read: (calls) => get<T>(url, {}, calls),
    show: (data) => setState({ url, data }),
    fail: (problem) => setState((old) => ({ ...(old.url === url ? old : { url }), problem })),
  });
  const fresh = state.url === url ? state : {};
  return {
    ...again,
    data: fresh.data,
    problem: fresh.problem,
    setData: useCallback((data: T) => setState({ url, data }), [url]),
  };
}

const FIRST_MS = 3_000;
const MAX_MS = 15_000;

/**
 * Follows what no event of the stream tells, from one answer to the next: every three seconds while it moves, then twice as long
 * each time; not in a tab that nobody looks at. `isOpen`: it may still change.
 */
export function useReadAgain<T>({ data, problem, follow }: Loaded<T>, isOpen: (data: T) => boolean): void {
  const last = useRef({ json: '', pauseMs: FIRST_MS });
  useEffect(() => {
    if (data === undefined || !isOpen(data)) return;
    const json = JSON.stringify(data);
    const pauseMs = json === last.current.json ? Math.min(MAX_MS, last.current.pauseMs * 2) : FIRST_MS;
    last.current = { json, pauseMs };
    const read = () => {
      if (!document.hidden) follow();
    };
    const timer = setTimeout(read, pauseMs);
    document.addEventListener('visibilitychange', read);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', read);
    };
  }, [data, problem, follow]);
}
