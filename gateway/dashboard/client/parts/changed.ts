/** The members of a request that are not as the form showed them: a page that stood open for long undoes no change of others. */
export function changed<T extends object>(now: T, shown: { readonly [Name in keyof T]: unknown }): object {
  const before = new Map<string, unknown>(Object.entries(shown));
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name))),
  );
}
