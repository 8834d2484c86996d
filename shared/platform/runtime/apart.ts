/** The end of one item of a group: stored, or the reason why it cannot be. */
export interface End {
  readonly error?: unknown;
}

/** Stores all together; after an error that `isOwn` accepts, each alone. `store` may be repeated. */
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
