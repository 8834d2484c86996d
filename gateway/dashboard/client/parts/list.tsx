import type { ComponentChildren } from 'preact';
import { useCallback, useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { queryText } from '../api/http.ts';
import type { Listed } from '../api/load.ts';
import { Confirm, FormDialog, type FormValues, useDialog } from './form.tsx';
import { Empty, NoResults, NothingYet, PageHead, type PageHeadProps, Problem, Skeleton } from './page.tsx';
import { AddButton, Button, type IconName } from './value.tsx';

/** The button that creates an entry, and its dialog. The list reloads afterwards. */
export interface Adding {
  /** The label of the page's button and, by default, of the dialog. */
  readonly words: string;
  readonly title?: string;
  readonly submit?: string;
  readonly lead?: string;
  readonly look?: 'danger';
  readonly fields: ComponentChildren;
  /** Resolves to the toast's text. */
  readonly send: (values: FormValues) => Promise<unknown>;
}

/** A button in a row, with an immediate act or a confirmation. The list reloads after a confirmed act. */
type RowAct = readonly [words: string, of: string, act: (() => void) | Asking];

export interface Asking {
  /** "Remove the sender HARKRA?" */
  readonly title: string;
  /** The button's label: a verb and its object. */
  readonly act: string;
  /** A name to type before something that cannot be undone. */
  readonly typed?: string | undefined;
  /** What stops working, and whether it can be undone. */
  readonly warning: ComponentChildren;
  /** Resolves to the toast's text. */
  readonly send: () => Promise<unknown>;
}

export interface ListPageProps<T>
  extends Pick<PageHeadProps, 'title' | 'lead' | 'back'>,
    Omit<TableProps<T>, 'caption' | 'rows' | 'acts'> {
  /** Names the rows for screen readers; by default the title does. */
  readonly caption?: string;
  readonly list: Listed<T>;
  readonly filter?: UrlFilter<string>;
  readonly filters?: ComponentChildren;
  /** Shown for an empty list: "No keys yet. Create one to send your first message." */
  readonly empty: ComponentChildren;
  readonly icon?: IconName;
  /** False: the user may not add entries. */
  readonly add?: Adding | false;
  /** In place of `add` where that is not a form; also shown in an empty list. */
  readonly next?: ComponentChildren;
  /** Further buttons, before that one. */
  readonly actions?: ComponentChildren;
  readonly acts?: ((row: T) => readonly RowAct[]) | false;
  /** Shown before and after the list. */
  readonly children?: ComponentChildren;
  readonly after?: ComponentChildren;
}

/** A page made of filters, a table, a dialog that adds an entry, and acts on rows. */
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
  /** `number`: aligned right with tabular digits. `actions`: buttons whose head only screen readers see. */
  readonly kind?: 'number' | 'actions';
}

/** A button in a row. `of` is for screen readers: "Remove 919876543210". */
type Act = readonly [words: string, of: string, onClick: () => void];

interface TableProps<T> {
  /** Names the rows for screen readers. */
  readonly caption: string;
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly columns: readonly Column<T>[];
  /** Buttons at the end of each row. False: none. */
  readonly acts?: ((row: T) => readonly Act[]) | false;
  /** Numbers to compare: stays a scrolling table on a phone. */
  readonly compared?: boolean;
}

/** Shown as an empty cell; on a phone the cell is left out. */
const NOTHING: readonly unknown[] = ['–', '', null, undefined, false];

/** Scrolls sideways in its own region when wider than the screen. On a phone each row is a card with labels. */
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

/** Opens the details of a row. */
export function RowLink(props: { readonly onClick: () => void; readonly children: ComponentChildren }) {
  return <button type="button" class="row-link" {...props} />;
}

interface PagedTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: Listed<T>;
  readonly empty: ComponentChildren;
  /** If it matches nothing, the list offers to clear it. */
  readonly filter?: Pick<UrlFilter<string>, 'isSet' | 'clear'> | undefined;
}

export function PagedTable<T>({ list, empty, filter, ...table }: PagedTableProps<T>) {
  return (
    <Paged list={list} empty={filter?.isSet ? <NoResults clear={filter.clear} /> : empty}>
      {(rows) => <Table {...table} rows={rows} />}
    </Paged>
  );
}

interface PagedProps<T> {
  readonly list: Listed<T>;
  /** An `Empty` for an empty list; while a filter is set, `NoResults` is shown instead. */
  readonly empty: ComponentChildren;
  readonly children: (rows: readonly T[]) => ComponentChildren;
}

/** A list of the API in all its states: loading, failed, empty, with news, and with more to load. */
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
  /** Empty text: not set. */
  readonly values: Readonly<Record<Name, string>>;
  readonly set: (changed: Partial<Record<Name, string>>) => void;
  readonly clear: () => void;
  readonly isSet: boolean;
}

/** A list's filters are in the page's address, so they can be linked and undone by Back. */
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

/** Rarely needed filters, unfolded when one of them is set. */
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
  /** No "All": the first option is the default. */
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

/** Applied on Enter or blur. */
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

/** Shown in the user's zone; UTC in the address, so that a link means the same to everybody. */
export function FilterTime<Name extends string>(props: FilterProps<Name>) {
  const { filter, name } = props;
  return <FilterDate {...props} type="datetime-local" value={localOf(filter.values[name])} read={instantOf} />;
}

interface FilterDayProps<Name extends string> extends FilterProps<Name> {
  /** The default. */
  readonly preset?: string;
}

/** `2026-11-22` */
export function FilterDay<Name extends string>({ preset = '', ...props }: FilterDayProps<Name>) {
  const { filter, name } = props;
  return <FilterDate {...props} type="date" value={filter.values[name] || preset} read={(entered) => entered} />;
}

interface FilterDateProps<Name extends string> extends FilterProps<Name> {
  readonly type: 'datetime-local' | 'date';
  readonly value: string;
  /** Converts the input to its form in the address. */
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

/** For an `<input type="datetime-local">`: `2026-11-22T18:30`. */
function localOf(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function only<Name extends string>(name: Name, value: string): Partial<Record<Name, string>> {
  return { [name]: value } as Partial<Record<Name, string>>; // The type of a computed name is not inferred.
}
