import type { ComponentChildren } from 'preact';
import { useCallback, useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { queryText } from '../api/http.ts';
import type { Listed } from '../api/load.ts';
import { Confirm, FormDialog, type FormValues, useDialog } from './form.tsx';
import { Empty, NoResults, NothingYet, PageHead, type PageHeadProps, Problem, Skeleton } from './page.tsx';
import { AddButton, Button, type IconName } from './value.tsx';

/** The button of a page that makes a new one of its things, and the dialog behind it. The list is read again afterwards. */
export interface Adding {
  /** The button's words, also those of the dialog's button. */
  readonly words: string;
  /** Of the dialog; absent: the same words. */
  readonly title?: string;
  readonly submit?: string;
  readonly lead?: string;
  readonly look?: 'danger';
  readonly fields: ComponentChildren;
  /** Sends, and says what is done: a toast tells it. */
  readonly send: (values: FormValues) => Promise<unknown>;
}

/** A button in a row: what it does at once, or what is asked before. The list is read again after what was asked. */
type RowAct = readonly [words: string, of: string, act: (() => void) | Asking];

export interface Asking {
  /** "Remove the sender HARKRA?" */
  readonly title: string;
  /** The button: a verb and what it does it to. */
  readonly act: string;
  /** A name that the user must type, for what cannot be undone. */
  readonly typed?: string | undefined;
  /** What stops working, and whether it can be undone. */
  readonly warning: ComponentChildren;
  /** Sends, and says what is done. */
  readonly send: () => Promise<unknown>;
}

export interface ListPageProps<T>
  extends Pick<PageHeadProps, 'title' | 'lead' | 'back'>,
    Omit<TableProps<T>, 'caption' | 'rows' | 'acts'> {
  /** What the rows are, for screen readers. Absent: what the title says. */
  readonly caption?: string;
  readonly list: Listed<T>;
  /** What the list is filtered by, and the fields of that. */
  readonly filter?: UrlFilter<string>;
  readonly filters?: ComponentChildren;
  /** What to do when there is nothing yet: "No keys yet. Create one to send your first message." */
  readonly empty: ComponentChildren;
  readonly icon?: IconName;
  /** Makes a new one. False: the user may not. */
  readonly add?: Adding | false;
  /** In its place, where that is no form: a button that stands in an empty list too. */
  readonly next?: ComponentChildren;
  /** Further buttons, before that one. */
  readonly actions?: ComponentChildren;
  readonly acts?: ((row: T) => readonly RowAct[]) | false;
  /** What stands before the list, and behind it. */
  readonly children?: ComponentChildren;
  readonly after?: ComponentChildren;
}

/** A page that is a list: filters, a table, a dialog that adds one, and what can be done with a row. */
export function ListPage<T>(props: ListPageProps<T>) {
  const {
    title,
    lead,
    back,
    caption = title,
    list,
    filter,
    filters,
    empty,
    icon,
    add,
    actions,
    acts = false,
    ...more
  } = props;
  const { next, children, after, ...table } = more;
  const [dialog, open] = useDialog();
  const button = add ? (
    <ButtonToAdd of={add} onClick={() => open(<AddDialog of={add} onDone={list.reload} />)} />
  ) : (
    next
  );
  const confirm = ({ warning, send, ...asked }: Asking) =>
    open(
      <Confirm
        {...asked}
        onConfirm={async () => {
          const said = await send();
          list.reload();
          return said;
        }}
      >
        {warning}
      </Confirm>,
    );
  const toButton = ([words, of, act]: RowAct) =>
    [words, of, typeof act === 'function' ? act : () => confirm(act)] as const;
  return (
    <>
      <PageHead
        {...{ title, lead, back }}
        actions={
          (actions || button) && (
            <>
              {actions}
              {button}
            </>
          )
        }
      />
      {children}
      {filter && filters && <FilterBar filter={filter}>{filters}</FilterBar>}
      <PagedTable
        {...table}
        list={list}
        caption={caption}
        filter={filter}
        empty={
          <Empty icon={icon} action={button}>
            {empty}
          </Empty>
        }
        acts={acts && ((row: T) => acts(row).map(toButton))}
      />
      {after}
      {dialog}
    </>
  );
}

function ButtonToAdd({ of: { words, look }, onClick }: { readonly of: Adding; readonly onClick: () => void }) {
  if (look === undefined) return <AddButton onClick={onClick}>{words}</AddButton>;
  return (
    <Button look="primary" onClick={onClick}>
      {words}
    </Button>
  );
}

function AddDialog({ of, onDone }: { readonly of: Adding; readonly onDone: () => void }) {
  const { words, title = words, submit = words, fields, send, ...form } = of;
  const sendAndRead = async (values: FormValues) => {
    const said = await send(values);
    onDone();
    return said;
  };
  return (
    <FormDialog {...form} title={title} submit={submit} onSubmit={sendAndRead}>
      {fields}
    </FormDialog>
  );
}

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
  readonly filter?: Pick<UrlFilter<string>, 'isSet' | 'clear'> | undefined;
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

export interface UrlFilter<Name extends string> {
  /** Empty when it is not set. */
  readonly values: Readonly<Record<Name, string>>;
  readonly set: (changed: Partial<Record<Name, string>>) => void;
  readonly clear: () => void;
  readonly isSet: boolean;
}

/** Filters of a list live in the address of the page: they can be linked, and Back undoes them. */
export function useUrlFilter<Name extends string>(...names: readonly Name[]): UrlFilter<Name> {
  const { query, path, route } = useLocation();
  const entries = names.map((name) => [name, query[name] ?? '']);
  const values = Object.fromEntries(entries) as Record<Name, string>; // an entry for each name
  return {
    values,
    set: useCallback(
      (changed: Partial<Record<Name, string>>) => route(path + queryText({ ...query, ...changed })),
      [query, path, route],
    ),
    clear: useCallback(() => route(path), [path, route]),
    isSet: names.some((name) => values[name] !== ''),
  };
}

interface FilterBarProps<Name extends string> {
  readonly filter: UrlFilter<Name>;
  readonly children: ComponentChildren;
}

/** A row of filters above a list. */
export function FilterBar<Name extends string>({ filter, children }: FilterBarProps<Name>) {
  return (
    <search class="filters">
      {children}
      {filter.isSet && (
        <Button look="quiet" icon="close" onClick={filter.clear}>
          Clear filter
        </Button>
      )}
    </search>
  );
}

interface MoreFiltersProps<Name extends string> extends FilterBarProps<Name> {
  readonly names: readonly Name[];
}

/** Filters that one seldom needs. They are unfolded when one of them is set. */
export function MoreFilters<Name extends string>({ filter, names, children }: MoreFiltersProps<Name>) {
  return (
    <details open={names.some((name) => filter.values[name] !== '')}>
      <summary>More filters</summary>
      <div class="filters">{children}</div>
    </details>
  );
}

interface FilterProps<Name extends string> {
  readonly filter: UrlFilter<Name>;
  readonly name: Name;
  readonly label: string;
}

interface FilterSelectProps<Name extends string> extends FilterProps<Name> {
  /** Besides "All". */
  readonly options: readonly (readonly [value: string, label: string])[];
  /** There is no "All": the first option is meant while nothing is set. */
  readonly one?: boolean;
}

export function FilterSelect<Name extends string>({
  filter,
  name,
  label,
  options,
  one = false,
}: FilterSelectProps<Name>) {
  const id = useId();
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <select id={id} onChange={(event) => filter.set(only(name, event.currentTarget.value))}>
        {(one ? options : [['', 'All'] as const, ...options]).map(([value, words]) => (
          <option key={value} value={value} selected={value === filter.values[name]}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

interface FilterTextProps<Name extends string> extends FilterProps<Name> {
  readonly placeholder?: string;
}

/** A text field of a filter, applied on Enter or when the field is left. */
export function FilterText<Name extends string>({ filter, name, label, placeholder }: FilterTextProps<Name>) {
  const id = useId();
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        defaultValue={filter.values[name]}
        key={filter.values[name]}
        placeholder={placeholder}
        spellcheck={false}
        onChange={(event) => filter.set(only(name, event.currentTarget.value.trim()))}
      />
    </div>
  );
}

/** A time in the user's zone. In the address it is in UTC, so that a link shows the same to everybody. */
export function FilterTime<Name extends string>(props: FilterProps<Name>) {
  const { filter, name } = props;
  return <FilterDate {...props} type="datetime-local" value={localOf(filter.values[name])} read={instantOf} />;
}

interface FilterDayProps<Name extends string> extends FilterProps<Name> {
  /** What is meant while nothing is set. */
  readonly preset?: string;
}

/** A day, as `2026-11-22`. */
export function FilterDay<Name extends string>({ preset = '', ...props }: FilterDayProps<Name>) {
  const { filter, name } = props;
  return <FilterDate {...props} type="date" value={filter.values[name] || preset} read={(entered) => entered} />;
}

interface FilterDateProps<Name extends string> extends FilterProps<Name> {
  readonly type: 'datetime-local' | 'date';
  readonly value: string;
  /** As it stands in the address. */
  readonly read: (entered: string) => string;
}

function FilterDate<Name extends string>({ filter, name, label, type, value, read }: FilterDateProps<Name>) {
  const id = useId();
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <input {...{ id, type, value }} onChange={(event) => filter.set(only(name, read(event.currentTarget.value)))} />
    </div>
  );
}

function instantOf(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/** As the input wants it: `2026-11-22T18:30`. */
function localOf(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function only<Name extends string>(name: Name, value: string): Partial<Record<Name, string>> {
  return { [name]: value } as Partial<Record<Name, string>>; // The type of a computed name is not inferred.
}
