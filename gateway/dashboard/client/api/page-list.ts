import type { ApiProblem } from './http.ts';

/** The first pages of a list, as one. */
export interface Pages<T> {
  readonly rows: readonly T[];
  /** Where the next page begins; null when there is none. */
  readonly cursor: string | null;
  readonly count: number;
}

/** A list as it is shown, and what is on its way. */
export interface PageList<T> {
  /** What it is a list of: path and query. */
  readonly url: string;
  /** Undefined until the first page has come. */
  readonly pages?: Pages<T>;
  readonly isLoadingMore?: boolean;
  /** The first page has changed since it was shown. */
  readonly hasNews?: boolean;
  readonly problem?: ApiProblem;
  /** What failed: the reading of the next page, or of what is shown. */
  readonly failed?: 'more' | 'shown';
}

/** The list was read anew because the user asked for it. */
export function shown<T>({ url }: PageList<T>, pages: Pages<T>): PageList<T> {
  return { url, pages };
}

/**
 * Its first page was read anew because the stream told of something. Whoever has loaded more is reading further below: then all of
 * it stays, and the news is only told of.
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

/** The page after `pages` was asked for. */
export function loading<T>({ problem: _, failed: __, ...list }: PageList<T>): PageList<T> {
  return { ...list, isLoadingMore: true };
}

/** The page after `pages` has come. It is dropped when the list was read anew meanwhile. */
export function loaded<T>(list: PageList<T>, pages: Pages<T>, next: Pages<T>): PageList<T> {
  return list.pages === pages ? { ...list, pages: joined(pages, next), isLoadingMore: false } : list;
}

export function notLoaded<T>(list: PageList<T>, pages: Pages<T>, problem: ApiProblem): PageList<T> {
  return list.pages === pages ? { ...list, isLoadingMore: false, problem, failed: 'more' } : list;
}

export function joined<T>(pages: Pages<T>, next: Pages<T>): Pages<T> {
  return { rows: [...pages.rows, ...next.rows], cursor: next.cursor, count: pages.count + next.count };
}
