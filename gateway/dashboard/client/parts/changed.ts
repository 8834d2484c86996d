/** Only what the user changed in a form. Sending the rest too would undo what others changed while the page was open. */
export function changed<T extends object>(now: T, shown: { readonly [Name in keyof T]: unknown }): object {
  const before = new Map<string, unknown>(Object.entries(shown));
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name))),
  );
}
