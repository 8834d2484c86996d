import type { Db } from 'mongodb';
import { connectStore } from '../../../shared/platform/mongo/connect.ts';
import { ensureIndexes } from '../../../shared/platform/mongo/indexes.ts';
import { eventually } from '../../support/eventually.ts';
import {
  answered,
  cutAfter,
  cutBefore,
  doneAndAnswered,
  eachRefused,
  type Fault,
  foreign,
  halfDone,
  pass,
  refused,
  unreplicated,
  WRITES,
} from '../../support/mongo-wire/faults.ts';
import { type Handler, isHello } from '../../support/mongo-wire/link.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { doneLate, rolledBack } from '../../support/mongo-wire/undo.ts';
import type { UsedStore } from '../../support/store.ts';

/** Work of the product on its own data. */
export interface Scenario {
  readonly name: string;
  /** The process that does the work uses `faulty`; `db` has no faults. */
  open(db: Db, faulty: Db): Promise<Work>;
}

export interface Work {
  /** Does the work with the product's own repeats. */
  act(): Promise<void>;
  /** Fails if something is lost or doubled, or a credit is not accounted for, whatever went wrong in the work. */
  expectWhole(): Promise<void>;
}

interface Place {
  readonly command: string;
  readonly collection: string;
  readonly nth: number;
  readonly statements: number;
}

/** Handlers by the fault's name. */
type Fates = Readonly<Record<string, (tools: Tools) => Handler>>;

interface Tools {
  /** The same database without faults. */
  readonly db: Db;
  /** Postpones something until the work is over. */
  readonly late: (work: () => Promise<unknown>) => void;
}

/** Faults after which the driver does not repeat a read. */
const READ: Fates = {
  'refused: overloaded': () => refused('IngressRequestRateLimitExceeded'),
  'cut off before': () => cutBefore,
};
/** One of each kind: not done; done without an answer; perhaps not durable; rolled back; in progress. */
const WRITTEN: Fates = {
  'refused: not primary': () => refused('NotWritablePrimary'),
  'done and cut off': () => cutAfter,
  'done, stepped down': () => unreplicated('InterruptedDueToReplStateChange'),
  'rolled back, stepped down': ({ db }) => rolledBack(db, 'InterruptedDueToReplStateChange'),
  'rolled back and cut off': ({ db }) => rolledBack(db, 'cut'),
  'cut off, and done after all else': ({ db, late }) => doneLate(db, late),
};
/** The same faults with other codes. */
const MORE: Fates = {
  ...READ,
  'refused: interrupted': () => refused('InterruptedDueToReplStateChange'),
  'refused: shutting down': () => refused('ShutdownInProgress'),
  'done, not on a majority': () => unreplicated('WriteConcernTimeout'),
};
const HALF: Fates = {
  'half done, the rest refused': () => halfDone('each'),
  'half done and interrupted': () => halfDone('all'),
};

/** Unlisted answers of a server in trouble, to a read and to a write. */
const FOREIGN_READ: Fates = {
  'answered with 50463173': () => answered(foreign(50_463_173)),
  'answered without a code': () => answered(foreign(undefined)),
};
const FOREIGN_WRITTEN: Fates = {
  'answered with 1': () => answered(foreign(1)),
  'answered without a code': () => answered(foreign(undefined)),
  'done, and answered with 50463173': () => doneAndAnswered(foreign(50_463_173)),
  'each write refused with 50463173': () => eachRefused(50_463_173),
  'done, and 8 about the majority': () => unreplicated('UnknownError'),
};
type Faults = 'some' | 'all' | 'foreign';

/** Parallel work, which mostly waits for a driver that looks for its server again. */
const LANES = 4;
const PATIENCE_MS = 60_000;

/** Each fault at each command. Resolves with the number of cases; rejects with all that went wrong. */
export async function faultAtEachCommand(
  store: UsedStore,
  scenario: Scenario,
  codes: Faults = 'some',
): Promise<number> {
  const lanes = await Promise.all(Array.from({ length: LANES }, (_, i) => openLane(store, i)));
  try {
    const [first] = lanes;
    if (first === undefined) throw new Error('there is one lane at least');
    const places = await placesOf(scenario, first);
    const cases = places.flatMap((place) => fatesOf(place, codes).map(([fate, happens]) => ({ place, fate, happens })));
    const left = [...cases];
    const failures: string[] = [];
    const work = async (lane: Lane): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const { place, fate, happens } = next;
        const { command, collection, nth } = place;
        const late: (() => Promise<unknown>)[] = [];
        const tools: Tools = { db: lane.db, late: (later) => void late.push(later) };
        const failed = await tryOne(scenario, lane, { command, collection, after: nth, happens: happens(tools) }, late);
        if (failed !== undefined) failures.push(`${command} ${collection}#${nth + 1} ${fate}: ${failed}`);
      }
    };
    await Promise.all(lanes.map(work));
    if (failures.length > 0) throw new Error(`${failures.length} of ${cases.length}:\n${failures.sort().join('\n')}`);
    return cases.length;
  } finally {
    await Promise.all(lanes.map((lane) => lane.close()));
  }
}

function fatesOf({ command, nth, statements }: Place, codes: Faults) {
  // Only the first of equal reads: a fault repeats all of its work.
  if (!WRITES.has(command)) return nth === 0 ? Object.entries(codes === 'foreign' ? FOREIGN_READ : READ) : [];
  if (codes === 'foreign') return Object.entries(FOREIGN_WRITTEN);
  return Object.entries({ ...WRITTEN, ...(codes === 'all' ? MORE : {}), ...(statements > 1 ? HALF : {}) });
}

interface Lane {
  readonly proxy: WireProxy;
  readonly db: Db;
  /** The same database, through the proxy. */
  readonly faulty: Db;
  close(): Promise<void>;
}

/** Each lane has its own database: its maintenance must not finish another lane's work. */
async function openLane({ uri, db: { databaseName } }: UsedStore, lane: number): Promise<Lane> {
  const proxy = await startWireProxy(uri);
  const to = { dataDir: '', mongodbDatabase: `${databaseName}_${lane}` };
  const own = await connectStore({ ...to, mongodbUri: uri });
  await ensureIndexes(own.db);
  const faulty = await connectStore({ ...to, mongodbUri: proxy.uri });
  return {
    proxy,
    db: own.db,
    faulty: faulty.db,
    close: async () => {
      await faulty.close();
      await proxy.close();
      await own.db.dropDatabase();
      await own.close();
    },
  };
}

/** The commands of the work without faults. */
async function placesOf(scenario: Scenario, { proxy, db, faulty }: Lane): Promise<readonly Place[]> {
  const places: Place[] = [];
  const { act, expectWhole } = await scenario.open(db, faulty);
  const watched = proxy.inject({
    times: Number.POSITIVE_INFINITY,
    happens: async (command, link) => {
      const { name, collection } = command;
      if (!isHello(command) && collection !== undefined) {
        const nth = places.filter((place) => place.command === name && place.collection === collection).length;
        const { documents, updates, deletes } = command.body();
        places.push({ command: name, collection, nth, statements: (documents ?? updates ?? deletes ?? []).length });
      }
      await pass(command, link);
    },
  });
  await act();
  watched.end();
  await expectWhole();
  return places;
}

/** What went wrong, if anything. */
async function tryOne(
  scenario: Scenario,
  { proxy, db, faulty }: Lane,
  fault: Fault,
  late: readonly (() => Promise<unknown>)[],
): Promise<string | undefined> {
  try {
    // The driver may still be looking for its server after the previous case.
    await untilDone(() => faulty.command({ ping: 1 }));
    const { act, expectWhole } = await scenario.open(db, faulty);
    const played: Promise<void>[] = [];
    const happens: Handler = (command, link) => {
      const over = fault.happens(command, link);
      played.push(over);
      return over;
    };
    const injected = proxy.inject({ ...fault, happens });
    await act();
    injected.end();
    if (injected.met === 0) return 'the command did not come';
    // The work may have read a write that is being rolled back. On a replica set later writes would be lost too.
    await Promise.all(played);
    for (const work of late) await work();
    await expectWhole();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}

/** Repeats the work until the store accepts it, as a worker repeats idempotent work. */
export async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  const done = await eventually(async () => ({ value: await work() }), 'it is done', PATIENCE_MS);
  return done.value;
}
