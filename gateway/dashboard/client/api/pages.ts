import { useState } from 'preact/hooks';
import { get, type Query, queryText } from './http.ts';
import { type Calls, useReading } from './load.ts';
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
import { type ApiProblem, asProblem } from './problem.ts';

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
