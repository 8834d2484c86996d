import type { ComponentChildren } from 'preact';
import type { Listed } from '../api/pages.ts';
import { Button } from './button.tsx';
import { NothingYet } from './empty.tsx';
import { Problem } from './problem.tsx';
import { Skeleton } from './skeleton.tsx';

interface PagedProps<T> {
  readonly list: Listed<T>;
  /** When all was looked at: an `Empty`; a `NoResults` while a filter is set. */
  readonly empty: ComponentChildren;
  readonly children: (rows: readonly T[]) => ComponentChildren;
}

/** A list of the API with all its states: on its way, failed, empty, with news, and with more to load. */
export function Paged<T>({ list, empty, children }: PagedProps<T>) {
  const { rows, problem, retry, hasMore, hasNews, isLoadingMore, loadMore, reload } = list;
  return (
    <>
      {problem && <Problem problem={problem} retry={retry} />}
      {hasNews && (
        <div class="pager">
          <Button onClick={reload}>Show what is new</Button>
        </div>
      )}
      {rows === undefined && problem === undefined && <Skeleton />}
      {rows !== undefined && (rows.length > 0 ? children(rows) : hasMore ? <NothingYet /> : empty)}
      {hasMore && (
        <div class="pager">
          <Button onClick={loadMore} busy={isLoadingMore}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}
