/** The end of one item of a group: stored, or the reason why this one cannot be. */
export interface End {
  readonly error?: unknown;
}

/**
 * Stores a group together. If that fails for what may be the fault of one item (`isOwn`), stores each alone, so that one holds up no
 * others. `store` may be repeated. Rejects with any other error.
 */
export async function storeApart<Item>(
  items: readonly Item[],
  store: (some: readonly Item[]) => Promise<void>,
  isOwn: (error: unknown) => boolean,
): Promise<readonly End[]> {
  try {
    await store(items);
    return items.map(() => ({}));
  } catch (error) {
    if (!isOwn(error)) throw error;
    if (items.length === 1) return [{ error }];
  }
  const ends: End[] = [];
  for (const item of items) ends.push(...(await storeApart([item], store, isOwn)));
  return ends;
}
