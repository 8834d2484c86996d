import { isDeepStrictEqual } from 'node:util';
import type { Collection, Db } from 'mongodb';
import { AllOrders, type Step } from './orders.ts';
import type { Prng } from './prng.ts';

/** One of several concurrent works on a store. Each of its commands waits for its turn. */
export type Actor = (db: Db) => Promise<unknown>;

interface Waiting extends Step {
  go(): void;
}

const WRITING = /^(delete|findOneAnd|insert|update|bulkWrite)/;
/** The update of a write that only reads (shared/platform/mongo/find-one.ts). */
const CHANGES_NOTHING = { $unset: { nothing: '' } };
const ASKING = /^(delete|findOneAnd|insert|update|bulkWrite|countDocuments|findOne$)/;

/** Makes a run's actors on new data. `check` fails if the result is wrong. */
type World = () => Promise<{ readonly actors: readonly Actor[]; check(): Promise<void> }>;

/**
 * Runs actors against one store in every order of their commands on `collections` (others do not wait). Orders that
 * differ only where it does not matter (two reads, or commands on two collections) run once. An actor's simultaneous
 * commands on one collection are queued; otherwise it must send one at a time. Returns the number of orders.
 */
export async function everyOrder(db: Db, collections: readonly string[], world: World): Promise<number> {
  const all = new AllOrders();
  let orders = 0;
  do {
    const { whole } = await runOnce(db, collections, await world(), (open) => all.choose(open));
    if (whole) orders += 1;
  } while (all.next());
  return orders;
}

/** The same in `count` random orders, where all would be too many. */
export async function someOrders(
  db: Db,
  collections: readonly string[],
  world: World,
  count: number,
  prng: Prng,
): Promise<void> {
  for (let drawn = 0; drawn < count; drawn++) {
    await runOnce(db, collections, await world(), (open) => open[prng.below(open.length)]);
  }
}

/** Runs one order. `whole` is false if `choose` found it equal to an earlier one; then `check` was not called. */
async function runOnce(
  db: Db,
  collections: readonly string[],
  { actors, check }: Awaited<ReturnType<World>>,
  choose: (open: readonly Step[]) => Step | undefined,
): Promise<{ readonly steps: readonly Step[]; readonly whole: boolean }> {
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

  const steps: Step[] = [];
  let whole = true;
  for (let open = waiting.filter(isThere); open.length > 0; open = waiting.filter(isThere)) {
    const chosen: Step | undefined = whole ? choose(open) : undefined;
    whole = chosen !== undefined;
    const next = open.find(({ actor }) => chosen === undefined || actor === chosen.actor);
    if (next === undefined) throw new Error('the same order went another way');
    steps.push(next);
    waiting[next.actor] = undefined;
    const quiet = begin(next.actor);
    next.go();
    await quiet;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  if (whole) await check();
  return { steps, whole };
}

function isThere(one: Waiting | undefined): one is Waiting {
  return one !== undefined;
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
  const oneByOne = queue();
  return new Proxy(collection, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function' || typeof property !== 'string') return value;
      if (property === 'find') return (...args: unknown[]) => cursorInTurns(value.apply(target, args), name, turn);
      if (!ASKING.test(property)) return value.bind(target);
      return (...args: unknown[]): Promise<unknown> =>
        oneByOne(async () => {
          await turn(name, WRITING.test(property) && !isDeepStrictEqual(args[1], CHANGES_NOTHING));
          return value.apply(target, args);
        });
    },
  });
}

/** Runs works in sequence. */
function queue(): (work: () => Promise<unknown>) => Promise<unknown> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
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
