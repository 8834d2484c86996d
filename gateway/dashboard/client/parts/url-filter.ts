import { useCallback } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { queryText } from '../api/http.ts';

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
