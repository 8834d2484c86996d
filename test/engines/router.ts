import type { Document } from 'mongodb';
import { type Command, rewritten } from '../support/mongo-wire/framing.ts';
import { isHello, listen, plainHello } from '../support/mongo-wire/link.ts';

const NOW = '$$NOW';
/** As they stand in a message: BSON's strings and names end with a zero. */
const NOW_ON_THE_WIRE = `${NOW}\0`;
const UPSERT_ON_THE_WIRE = 'upsert\0';

export interface Router {
  readonly uri: string;
  close(): Promise<void>;
}

/**
 * Stands before a server as mongos does, in one respect: `$$NOW` is this process's time, one value for a whole command (mongos
 * sends it to the shards as `runtimeConstants`). For a server whose own `$$NOW` is not to be compared with dates. It puts upserts by
 * findAndModify to the server one after the other, because of `LOST_UPSERT`.
 */
export async function startRouter(storeUri: string): Promise<Router> {
  let lastUpsert = Promise.resolve();
  const listener = await listen({
    storeUri,
    accepts: () => true,
    handle: async (command, link) => {
      if (isHello(command)) return link.tell(await plainHello(command, link));
      const asked = (): Promise<void> => link.ask(withTime(command, new Date())).then(link.tell);
      if (command.name !== 'findAndModify' || !command.message.includes(UPSERT_ON_THE_WIRE)) return asked();
      // One whose connection ends is never answered.
      lastUpsert = lastUpsert.then(() => Promise.race([asked(), link.ended]));
      return lastUpsert;
    },
  });
  return { uri: `mongodb://${listener.host}/?directConnection=true`, close: () => listener.close() };
}

function withTime(command: Command, now: Date): Buffer {
  // What is inserted holds values, no expressions.
  if (command.name === 'insert' || !command.message.includes(NOW_ON_THE_WIRE)) return command.message;
  return rewritten(command, timed(command.body(), now) as Document); // a document stays one
}

function timed(value: unknown, now: Date): unknown {
  if (value === NOW) return now;
  if (Array.isArray(value)) return value.map((one) => timed(one, now));
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, name === '$literal' ? one : timed(one, now)]);
  return Object.fromEntries(entries);
}
