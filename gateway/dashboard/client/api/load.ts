import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { get, type Query, queryText } from './http.ts';
import { type ApiProblem, asProblem } from './problem.ts';

export interface Loaded<T> {
  readonly data: T | undefined;
  /** Why there is no data, or why it could not be read anew. */
  readonly problem: ApiProblem | undefined;
  /** Reads again; what is shown stays until the answer comes. */
  readonly reload: () => void;
  /** The same, because the stream told of something: an open page does not keep its session from ending. */
  readonly follow: () => void;
  /** Shows this from now on, for what an answer has just said. */
  readonly setData: (data: T) => void;
}

/** Reads `path` when the component appears, and when path or query change. */
export function useLoad<T>(path: string, query: Query = {}): Loaded<T> {
  const url = path + queryText(query);
  const [state, setState] = useState<{ url?: string; data?: T; problem?: ApiProblem }>({});
  const [times, setTimes] = useState(0);
  const follows = useRef(false);
  useEffect(() => {
    const leaving = new AbortController();
    const headers: Record<string, string> = follows.current ? { 'x-dashboard-auto': '1' } : {};
    follows.current = false;
    get<T>(url, {}, { signal: leaving.signal, headers }).then(
      (data) => setState({ url, data }),
      (error) => {
        if (leaving.signal.aborted) return;
        setState((old) => ({ ...(old.url === url ? old : { url }), problem: asProblem(error) }));
      },
    );
    return () => leaving.abort();
  }, [url, times]);
  const fresh = state.url === url ? state : {};
  return {
    data: fresh.data,
    problem: fresh.problem,
    reload: useCallback(() => setTimes((count) => count + 1), []),
    follow: useCallback(() => {
      follows.current = true;
      setTimes((count) => count + 1);
    }, []),
    setData: useCallback((data: T) => setState({ url, data }), [url]),
  };
}
