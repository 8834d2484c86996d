import type { Document } from 'mongodb';
import { pass } from './faults.ts';
import { answer, type Command } from './framing.ts';
import { startWireProxy, type WireProxy } from './proxy.ts';

/** From docs/mongodb.md, "A sharded cluster". */
const SHARD_KEYS: Readonly<Record<string, readonly string[]>> = {
  messages: ['_id'],
  deliveries: ['_id'],
  message_log: ['_id'],
  conversations: ['_id'],
  idempotency: ['_id'],
  batch_chunks: ['_id'],
  queue: ['_id'],
  accounts: ['_id'],
  ledger: ['account', 'change'],
};

export interface Router extends WireProxy {
  /** Single-document writes in this sharded collection that named the whole shard key, and so went to one shard. */
  routed(collection: string): number;
  /** What a router of MongoDB 6.0 would have refused, or sent to every shard. */
  readonly refused: readonly string[];
}

/**
 * Stands before a store like a mongos: refuses single-document writes in a sharded collection without the whole shard
 * key (manual, "findAndModify: Sharded Collections", "db.collection.updateOne: Upsert on a Sharded Collection"). A
 * mongos would send some of them to all shards; the product must have neither kind.
 */
export async function startRouter(storeUri: string): Promise<Router> {
  const proxy = await startWireProxy(storeUri);
  const refused: string[] = [];
  const routed = new Map<string, number>();
  proxy.inject({
    command: ['update', 'delete', 'findAndModify'],
    times: Number.POSITIVE_INFINITY,
    happens: async (command, link) => {
      const { collection = '' } = command;
      const key = SHARD_KEYS[collection];
      if (key === undefined) return pass(command, link);
      const queries = singleQueries(command);
      const bad = queries.find((query) => !key.every((field) => isValue(query[field])));
      if (bad === undefined) {
        routed.set(collection, (routed.get(collection) ?? 0) + queries.length);
        return pass(command, link);
      }
      refused.push(`${command.name} ${collection} by ${Object.keys(bad).join(', ')}`);
      const errmsg = 'played: the query does not contain the shard key';
      link.tell(answer(command.message, { ok: 0, code: 61, codeName: 'ShardKeyNotFound', errmsg }));
    },
  });
  return { ...proxy, routed: (collection) => routed.get(collection) ?? 0, refused };
}

function singleQueries(command: Command): readonly Document[] {
  const body = command.body();
  if (command.name === 'findAndModify') return [body.query ?? {}];
  const updates: readonly Document[] = body.updates ?? [];
  const deletes: readonly Document[] = body.deletes ?? [];
  return [...updates.filter(({ multi }) => multi !== true), ...deletes.filter(({ limit }) => limit === 1)].map(
    ({ q }) => q,
  );
}

/** True for a value to be equal to, false for a condition such as `{ $gt: 1 }`. */
function isValue(wanted: unknown): boolean {
  if (wanted === undefined) return false;
  return typeof wanted !== 'object' || wanted === null || !Object.keys(wanted).some((name) => name.startsWith('$'));
}
