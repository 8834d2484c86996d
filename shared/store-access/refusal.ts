import type { AccessDocument } from './access-store.ts';

/** Why a process must not start on this store, and what to do; undefined when it may. */
export function startRefusal({ mode, since, to }: AccessDocument): string | undefined {
  if (mode === 'moved') {
    const settings = to?.startsWith('mongodb')
      ? 'set MONGODB_URI (and MONGODB_DATABASE) to where they are now'
      : 'remove MONGODB_URI to use them';
    return `The data of this store were moved to ${to} at ${since.toISOString()}: ${settings}. To use this store again, as it was then: npm run ops -- store reopen.`;
  }
  if (mode === 'copying') {
    return `This store is a copy that is not complete, begun at ${since.toISOString()}: run the command again that copies (npm run ops -- store export or import), or drop this database.`;
  }
  return undefined;
}

/** What a store is to which nobody writes: `read-only since 2026-11-21T10:00:00.000Z`. */
export function accessWords({ mode, since, to }: AccessDocument): string {
  const what = { read_only: 'read-only', moved: `moved to ${to}`, copying: 'an unfinished copy' }[mode];
  return `${what} since ${since.toISOString()}`;
}
