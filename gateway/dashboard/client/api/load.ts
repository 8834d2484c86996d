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
interface Calls {
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
function useReading<T>(url: string, { read, show, fail }: Reading<T>): Again {
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

const EVERY_MS = 5_000;

/** Follows what no event of the stream tells, from one answer to the next; not in a tab that nobody looks at. `isOpen`: it may still change. */
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

/** A list as the API answers it. */
interface Answer<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

export interface Listed<T> {
  /** Undefined until the first page has come. */
  readonly rows: readonly T[] | undefined;
  readonly problem: ApiProblem | undefined;
  /** Does again what `problem` is about. */
  readonly retry: () => void;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  /** There is news, which `reload` shows: it does not move what is read further below. */
  readonly hasNews: boolean;
  /** Reads again all pages that are shown. */
  readonly reload: () => void;
  /** Reads the first page, because the stream told of something. */
  readonly follow: () => void;
}

/** A list, page by page. */
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
