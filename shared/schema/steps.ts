import type { Db } from 'mongodb';
import { isIndexNotFound } from '../mongo/errors.ts';
import { ensureIndexes, INDEXES } from '../mongo/indexes.ts';
import { updateEach } from '../mongo/update-each.ts';
import { idDay, type MessageId } from '../runtime/ids.ts';

/** What a step may use. */
export interface StepDeps {
  readonly db: Db;
  /** Where an interrupted run of the step had come to. */
  readonly walked: string | undefined;
  /** Call it after each slice: it stores how far the step has come. Throws when another process has taken over. */
  passed(walked: string): Promise<void>;
}

/**
 * A change of what earlier versions of the program stored. It may be interrupted anywhere and then runs again; two processes may
 * run it at once for a moment. Older processes may still write while it runs (a rolling update), so a step adds what the new
 * version needs. What the old version needs is removed by a step of a later version.
 */
export interface Step {
  readonly to: number;
  run(deps: StepDeps): Promise<void>;
}

/** In order, without a gap. A released step never changes. */
export const STEPS: readonly Step[] = [
  { to: 2, run: ({ db }) => dropIndex(db, 'events') },
  { to: 3, run: addDays },
  { to: 4, run: replaceIndexOfCopies },
];

/** Of messages. */
async function dropIndex(db: Db, name: string): Promise<void> {
  try {
    await db.collection('messages').dropIndex(name);
  } catch (error) {
    if (!isIndexNotFound(error)) throw error;
  }
}

/** Builds the new index first: older processes have the same query, and would read all messages. */
async function replaceIndexOfCopies({ db }: StepDeps): Promise<void> {
  const copies = INDEXES.filter(({ options }) => options.name === 'earlier_copies');
  await ensureIndexes(db, () => {}, copies);
  await dropIndex(db, 'earlier');
}

const SLICE = 1_000;

/** Gives messages the day of their id, by which they are searched (docs/decisions/0062). */
async function addDays({ db, walked, passed }: StepDeps): Promise<void> {
  const messages = db.collection<{ readonly _id: MessageId; readonly day?: number }>('messages');
  for (let last = walked ?? ''; ; ) {
    const slice = await messages
      .find({ _id: { $gt: last as MessageId } }, { projection: { day: 1 } }) // '' sorts before every id
      .sort({ _id: 1 })
      .limit(SLICE)
      .toArray();
    const without = slice.filter(({ day }) => day === undefined);
    await updateEach(
      db,
      'messages',
      without.map(({ _id }) => ({ filter: { _id }, update: { $set: { day: idDay(_id) } } })),
    );
    const end = slice.at(-1);
    if (end === undefined) return;
    last = end._id;
    await passed(last);
  }
}
