import { type Command, refuseOptions } from './command.ts';
import { reply } from './reply.ts';
import type { Store } from './store.ts';

export const COUNT_REFUSED = ['query', 'skip', 'limit', 'hint', 'collation', 'fields'];

/** How drivers ask for about how many documents there are; here the number is exact. */
export function count(store: Store, command: Command): Buffer {
  refuseOptions((name) => command.get(name), COUNT_REFUSED);
  const collection = store.catalog.get(`${command.db}.${command.collection()}`);
  return reply((out) => out.int32('n', collection?.count ?? 0));
}
