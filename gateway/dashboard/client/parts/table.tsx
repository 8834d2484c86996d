import type { ComponentChildren } from 'preact';
import type { Listed } from '../api/pages.ts';
import { Button } from './button.tsx';
import type { UrlFilter } from './filter.tsx';
import { NoResults, NothingYet, Problem, Skeleton } from './page.tsx';

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  /** `number`: to the right, with digits of one width. `actions`: buttons, the head is for screen readers only. */
  readonly kind?: 'number' | 'actions';
}

/** A button in a row. `of` is for screen readers: "Remove 919876543210". */
type Act = readonly [words: string, of: string, onClick: () => void];

interface TableProps<T> {
  /** What the rows are, for screen readers. */
  readonly caption: string;
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly columns: readonly Column<T>[];
  /** What can be done with a row, as buttons at its end. False: no row has any. */
  readonly acts?: ((row: T) => readonly Act[]) | false;
  /** Numbers to compare: a table on a phone too, which scrolls. */
  readonly compared?: boolean;
}

/** What stands where a row has nothing. On a phone the cell is left out. */
const NOTHING: readonly unknown[] = ['–', '', null, undefined, false];

/**
 * A table that scrolls sideways within its own region when it is wider than the screen. On a phone each row is a card, with the
 * heads before its values.
 */
export function Table<T>({ caption, rows, rowKey, columns: told, acts = false, compared = false }: TableProps<T>) {
  const columns: readonly Column<T>[] = acts ? [...told, actions(acts)] : told;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <section class="table-box" tabIndex={0} aria-label={caption}>
      <table class={compared ? undefined : 'cards'}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, kind }) => (
              <th key={head} scope="col" class={kind}>
                {kind === 'actions' ? <span class="hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ head, kind, cell }) => {
                const value = cell(row);
                return (
                  <td
                    key={head}
                    class={[kind, NOTHING.includes(value) && 'blank'].filter(Boolean).join(' ')}
                    data-head={head}
                  >
                    {value}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function actions<T>(acts: (row: T) => readonly Act[]): Column<T> {
  return {
    head: 'Actions',
    kind: 'actions',
    cell: (row) =>
      acts(row).map(([words, of, onClick]) => (
        <Button key={words} look="quiet" onClick={onClick}>
          {words} <span class="hidden">{of}</span>
        </Button>
      )),
  };
}

/** What opens the details of a row: its name, as a link looks. */
export function RowLink(props: { readonly onClick: () => void; readonly children: ComponentChildren }) {
  return <button type="button" class="row-link" {...props} />;
}

interface PagedTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: Listed<T>;
  /** In place of a list that has nothing yet: an `Empty`. */
  readonly empty: ComponentChildren;
  /** What the list is filtered by: when that finds nothing, it is offered to clear it. */
  readonly filter?: Pick<UrlFilter<string>, 'isSet' | 'clear'>;
}

/** A list of the API as a table. */
export function PagedTable<T>({ list, empty, filter, ...table }: PagedTableProps<T>) {
  return (
    <Paged list={list} empty={filter?.isSet ? <NoResults clear={filter.clear} /> : empty}>
      {(rows) => <Table {...table} rows={rows} />}
    </Paged>
  );
}

interface PagedProps<T> {
  readonly list: Listed<T>;
  /** When all was looked at: an `Empty`; a `NoResults` while a filter is set. */
  readonly empty: ComponentChildren;
  readonly children: (rows: readonly T[]) => ComponentChildren;
}

/** A list of the API with all its states: on its way, failed, empty, with news, and with more to load. */
function Paged<T>({ list, empty, children }: PagedProps<T>) {
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
