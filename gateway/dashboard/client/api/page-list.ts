import type { ApiProblem } from './http.ts';

/** The first `count` pages of a list, joined. */
export interface Pages<T> {
  readonly rows: readonly T[];
  /** Null after the last page. */
  readonly cursor: string | null;
  readonly count: number;
}

export interface PageList<T> {
  /** The list's path and query. */
  readonly url: string;
  /** Undefined until the first page has come. */
  readonly pages?: Pages<T>;
  readonly isLoadingMore?: boolean;
  /** The first page has changed since it was shown. */
  readonly hasNews?: boolean;
  readonly problem?: ApiProblem;
  /** Which reading failed: of the next page, or of the shown pages. */
  readonly failed?: 'more' | 'shown';
}

export function shown<T>({ url }: PageList<T>, pages: Pages<T>): PageList<T> {
  return { url, pages };
}

/**
 * After a live event: shows the new first page if no more was loaded. Otherwise the user is reading further down, so
 * the rows stay and only `hasNews` is set.
 */
export function followed<T>(list: PageList<T>, first: Pages<T>): PageList<T> {
  const { url, pages, isLoadingMore = false } = list;
  if (pages === undefined || (pages.count === 1 && !isLoadingMore)) return shown(list, first);
  const old = pages.rows.slice(0, first.rows.length);
  return { url, pages, isLoadingMore, hasNews: JSON.stringify(old) !== JSON.stringify(first.rows) };
}

export function notShown<T>(list: PageList<T>, problem: ApiProblem): PageList<T> {
  return { ...list, problem, failed: 'shown' };
}

export function loading<T>({ problem: _, failed: __, ...list }: PageList<T>): PageList<T> {
  return { ...list, isLoadingMore: true };
}

/** Appends the next page, unless the list was read again in the meantime. */
export function loaded<T>(list: PageList<T>, pages: Pages<T>, next: Pages<T>): PageList<T> {
  return list.pages === pages ? { ...list, pages: joined(pages, next), isLoadingMore: false } : list;
}

export function notLoaded<T>(list: PageList<T>, pages: Pages<T>, problem: ApiProblem): PageList<T> {
  return list.pages === pages ? { ...list, isLoadingMore: false, problem, failed: 'more' } : list;
}

export function joined<T>(pages: Pages<T>, next: Pages<T>): Pages<T> {
  return { rows: [...pages.rows, ...next.rows], cursor: next.cursor, count: pages.count + next.count };
}
