import type { Collection, Db } from 'mongodb';
import type { Prng } from './prng.ts';

/** One of several that work on one store at the same time, each command of it in its turn. */
export type Actor = (db: Db) => Promise<unknown>;

interface Waiting {
  readonly actor: number;
  readonly collection: string;
  readonly writes: boolean;
  go(): void;
}

/** A choice that was made: who of how many. */
interface Choice {
  readonly made: number;
  readonly of: number;
}

const WRITING = /^(delete|findOneAnd|insert|update|bulkWrite)/;
const ASKING = /^(delete|findOneAnd|insert|update|bulkWrite|countDocuments|findOne$)/;

/** Makes the actors of one run, from a world of its own, and looks at what they came to. */
type World = () => Promise<{ readonly actors: readonly Actor[]; check(): Promise<void> }>;

/**
 * Lets actors run against one store in every order of their commands on `collections` (the others go at once). Orders that
 * differ only in what does not matter, two reads or two collections one after the other, are run once. Each actor does one thing
 * after the other. Returns how many orders there were.
 */
export async function everyOrder(db: Db, collections: readonly string[], world: World): Promise<number> {
  let orders = 0;
  for (let plan: readonly number[] | undefined = []; plan !== undefined; ) {
    const known: readonly number[] = plan;
    const choices = await runOnce(db, collections, await world(), (step) => known[step] ?? 0);
    if (choices.whole) orders += 1;
    plan = nextPlan(choices.made);
  }
  return orders;
}

/** The same in `count` orders drawn by `prng`, where all would be too many. */
export async function someOrders(
  db: Db,
  collections: readonly string[],
  world: World,
  count: number,
  prng: Prng,
): Promise<void> {
  for (let orders = 0; orders < count; ) {
    const { whole } = await runOnce(db, collections, await world(), (_, of) => prng.below(of));
    if (whole) orders += 1;
  }
}

/** The last choice that can be made otherwise is. */
function nextPlan(choices: readonly Choice[]): readonly number[] | undefined {
  const last = choices.findLastIndex(({ made, of }) => made + 1 < of);
  if (last === -1) return undefined;
  return choices.slice(0, last + 1).map(({ made }, i) => (i === last ? made + 1 : made));
}

/** `whole`: it was run to its end, and is right; else it was the same as another order. */
async function runOnce(
  db: Db,
  collections: readonly string[],
  { actors, check }: Awaited<ReturnType<World>>,
  choose: (step: number, of: number) => number,
): Promise<{ readonly made: readonly Choice[]; readonly whole: boolean }> {
  const waiting: (Waiting | undefined)[] = actors.map(() => undefined);
  const arrived: (() => void)[] = [];
  const failures: unknown[] = [];
  const begin = (actor: number): Promise<void> =>
    new Promise((resolve) => {
      arrived[actor] = resolve;
    });
  const running = actors.map(async (act, actor) => {
    const turn = (collection: string, writes: boolean): Promise<void> | undefined => {
      if (!collections.includes(collection)) return undefined;
      return new Promise<void>((resolve) => {
        waiting[actor] = { actor, collection, writes, go: resolve };
        arrived[actor]?.();
      });
    };
    await Promise.resolve();
    try {
      await act(inTurns(db, turn));
    } catch (error) {
      failures.push(error);
    }
    arrived[actor]?.();
  });
  await Promise.all(actors.map((_, actor) => begin(actor)));

  const choices: Choice[] = [];
  let last: Waiting | undefined;
  let cut = false;
  for (let open = waiting.filter(isThere); open.length > 0; open = waiting.filter(isThere)) {
    const may = cut ? open : open.filter((one) => !isSwap(last, one));
    if (may.length === 0) cut = true;
    const made = cut ? 0 : choose(choices.length, may.length);
    const next = (cut ? open : may)[made];
    if (next === undefined) throw new Error('the same order went another way');
    if (!cut) choices.push({ made, of: may.length });
    last = next;
    waiting[next.actor] = undefined;
    const quiet = begin(next.actor);
    next.go();
    await quiet;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  if (!cut) await check();
  return { made: choices, whole: !cut };
}

function isThere(one: Waiting | undefined): one is Waiting {
  return one !== undefined;
}

/** The other way round it is the same, and that way it is run. */
function isSwap(last: Waiting | undefined, next: Waiting): boolean {
  if (last === undefined || next.actor >= last.actor) return false;
  return last.collection !== next.collection || !(last.writes || next.writes);
}

type Turn = (collection: string, writes: boolean) => Promise<void> | undefined;

function inTurns(db: Db, turn: Turn): Db {
  const command = async (...args: Parameters<Db['command']>): Promise<unknown> => {
    const [asked] = args;
    const name = ['insert', 'update', 'delete', 'find'].find((one) => one in asked);
    if (name !== undefined) await turn(String(asked[name]), name !== 'find');
    return db.command(...args);
  };
  return new Proxy(db, {
    get(target, property) {
      if (property === 'collection') return (name: string) => collectionInTurns(db.collection(name), name, turn);
      if (property === 'command') return command;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function collectionInTurns(collection: Collection, name: string, turn: Turn): object {
  return new Proxy(collection, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function' || typeof property !== 'string') return value;
      if (property === 'find') return (...args: unknown[]) => cursorInTurns(value.apply(target, args), name, turn);
      if (!ASKING.test(property)) return value.bind(target);
      return async (...args: unknown[]): Promise<unknown> => {
        await turn(name, WRITING.test(property));
        return value.apply(target, args);
      };
    },
  });
}

function cursorInTurns(cursor: object, name: string, turn: Turn): object {
  const proxy: object = new Proxy(cursor, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return value;
      if (property === 'toArray') {
        return async (): Promise<unknown> => {
          await turn(name, false);
          return value.apply(target);
        };
      }
      if (property === Symbol.asyncIterator) {
        return async function* (): AsyncGenerator {
          await turn(name, false);
          yield* value.apply(target);
        };
      }
      return (...args: unknown[]): unknown => {
        const answer: unknown = value.apply(target, args);
        return answer === target ? proxy : answer;
      };
    },
  });
  return proxy;
}
