import { useCallback, useState } from 'preact/hooks';
import { get, type Query } from './http.ts';
import { useLoad } from './load.ts';
import { type ApiProblem, asProblem } from './problem.ts';

/** A list as the API answers it: `{data, next_cursor, has_more}`; a few lists name their entries otherwise. */
type Answer = Readonly<Record<string, unknown>> & { readonly next_cursor: string | null; readonly has_more: boolean };

export interface Listed<T> {
  /** Undefined until the first page has come. */
  readonly rows: readonly T[] | undefined;
  readonly problem: ApiProblem | undefined;
  /** Does again what `problem` is about. */
  readonly retry: () => void;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  /** From the first page again. */
  readonly reload: () => void;
  /** The same, because the stream told of something. */
  readonly follow: () => void;
}

interface More<T> {
  /** The page that these rows follow. */
  readonly after?: Answer;
  readonly rows: readonly T[];
  readonly cursor: string | null;
  readonly loading?: boolean;
  readonly problem?: ApiProblem;
}

/** A list, page by page. `noun`: the member of the answer that has the entries. */
export function usePages<T>(path: string, query: Query = {}, noun = 'data'): Listed<T> {
  const first = useLoad<Answer>(path, query);
  const [more, setMore] = useState<More<T>>({ rows: [], cursor: null });
  const begun = first.data;
  const now: More<T> = more.after === begun ? more : { rows: [], cursor: begun?.next_cursor ?? null };
  const loadMore = useCallback(async () => {
    if (begun === undefined || now.cursor === null || now.loading === true) return;
    const base = { after: begun, rows: now.rows, cursor: now.cursor };
    setMore({ ...base, loading: true });
    try {
      const page = await get<Answer>(path, { ...query, cursor: now.cursor });
      setMore({ after: begun, rows: [...now.rows, ...entries<T>(page, noun)], cursor: page.next_cursor });
    } catch (error) {
      setMore({ ...base, problem: asProblem(error) });
    }
  }, [begun, now, path, query, noun]);
  return {
    rows: begun === undefined ? undefined : [...entries<T>(begun, noun), ...now.rows],
    problem: now.problem ?? first.problem,
    retry: now.problem === undefined ? first.reload : loadMore,
    hasMore: now.cursor !== null,
    isLoadingMore: now.loading ?? false,
    loadMore,
    reload: first.reload,
    follow: first.follow,
  };
}

function entries<T>(answer: Answer, noun: string): readonly T[] {
  return (answer[noun] ?? []) as readonly T[]; // docs/openapi.json says what it holds.
}
