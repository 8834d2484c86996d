import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, AUTOMATIC, asProblem, get, type Query, queryText } from './http.ts';
import {
  followed,
  joined,
  loaded,
  loading,
  notLoaded,
  notShown,
  type PageList,
  type Pages,
  shown,
} from './page-list.ts';

interface Again {
  /** Reads again; the old data stays until the answer comes. */
  readonly reload: () => void;
  /** Reads again because of a live event. This does not keep the session alive. */
  readonly follow: () => void;
}

export interface Loaded<T> extends Again {
  readonly data: T | undefined;
  /** Why there is no data, or why the last reading failed. */
  readonly problem: ApiProblem | undefined;
  /** Replaces the data, for example with what a POST answered. */
  readonly setData: (data: T) => void;
}

interface Calls {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
}

interface Reading<T> {
  /** `isFollowing`: only a live event asked for it. */
  readonly read: (calls: Calls, isFollowing: boolean) => Promise<T>;
  readonly show: (answer: T, isFollowing: boolean) => void;
  readonly fail: (problem: ApiProblem) => void;
}

/** Reads on mount, when `url` changes and on request. Only the answer to the last request is shown. */
function useReading<T>(url: string, { read, show, fail }: Reading<T>): Again {
  const [times, setTimes] = useState(0);
  const follows = useRef(false);
  /** True until a reading that the user asked for is answered, even if a `follow` restarts it in between. */
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

const EVERY_MS = 5_000;

/** Polls what no live event announces while `isOpen` says that it may still change; not in a hidden tab. */
export function useReadAgain<T>({ data, problem, follow }: Loaded<T>, isOpen: (data: T) => boolean): void {
  useEffect(() => {
    if (data === undefined || !isOpen(data)) return;
    const read = () => {
      if (!document.hidden) follow();
    };
    const timer = setTimeout(read, EVERY_MS);
    document.addEventListener('visibilitychange', read);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', read);
    };
  }, [data, problem, follow]);
}

interface Answer<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

export interface Listed<T> {
  /** Undefined until the first page has come. */
  readonly rows: readonly T[] | undefined;
  readonly problem: ApiProblem | undefined;
  /** Repeats what `problem` is about. */
  readonly retry: () => void;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  /** The first page has changed. Only `reload` shows it, so that rows do not move under a reader. */
  readonly hasNews: boolean;
  /** Reads all shown pages again. */
  readonly reload: () => void;
  /** Reads the first page because of a live event. */
  readonly follow: () => void;
}

export function usePages<T>(path: string, query: Query = {}): Listed<T> {
  const url = path + queryText(query);
  const [state, setState] = useState<PageList<T>>({ url });
  const list: PageList<T> = state.url === url ? state : { url };
  const { pages, problem, failed, isLoadingMore = false, hasNews = false } = list;
  const readPage = async (cursor: string | undefined, calls?: Calls): Promise<Pages<T>> => {
    const { data, next_cursor: next } = await get<Answer<T>>(path, { ...query, cursor }, calls);
    return { rows: data, cursor: next, count: 1 };
  };
  const set = (now: (list: PageList<T>) => PageList<T>) => setState((old) => now(old.url === url ? old : { url }));
  const { reload, follow } = useReading<Pages<T>>(url, {
    read: async (calls, isFollowing) => {
      const count = isFollowing ? 1 : (pages?.count ?? 1);
      let read = await readPage(undefined, calls);
      while (read.count < count && read.cursor !== null) read = joined(read, await readPage(read.cursor, calls));
      return read;
    },
    show: (read, isFollowing) => set((old) => (isFollowing ? followed(old, read) : shown(old, read))),
    fail: (why) => set((old) => notShown(old, why)),
  });
  const loadMore = async () => {
    if (pages === undefined || pages.cursor === null || isLoadingMore) return;
    setState(loading);
    try {
      const next = await readPage(pages.cursor);
      setState((old) => loaded(old, pages, next));
    } catch (error) {
      setState((old) => notLoaded(old, pages, asProblem(error)));
    }
  };
  return {
    rows: pages?.rows,
    problem,
    retry: failed === 'more' ? loadMore : reload,
    hasMore: typeof pages?.cursor === 'string',
    ...{ isLoadingMore, loadMore, hasNews, reload, follow },
  };
}
