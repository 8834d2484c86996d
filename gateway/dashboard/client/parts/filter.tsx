import type { ComponentChildren } from 'preact';
import { useCallback, useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { queryText } from '../api/http.ts';
import { Button } from './button.tsx';

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
