import { beginEffort } from '../bson/effort.ts';
import { StoreError } from '../bson/errors.ts';
import { TYPE, type Value } from '../bson/read.ts';
import type { WriteError } from './reply.ts';
import { type Progress, Rest, Slice, type Step } from './slices.ts';
import type { Store } from './store.ts';

/** mongod's limit, told to drivers in `hello`. */
export const MAX_WRITE_BATCH = 100_000;

/** One write command with its statements, each done on its own. */
export interface Statements<Tally> {
  readonly statements: readonly Value[];
  /** The first error is the last statement. */
  readonly ordered: boolean;
  readonly tally: Tally;
  copy(tally: Tally): Tally;
  run(statement: Value, index: number, tally: Tally, slice: Slice): Step<Tally> | undefined;
  reply(tally: Tally, errors: readonly WriteError[]): Buffer;
}

/** Where a slice begins. */
interface Place<Tally> {
  readonly index: number;
  readonly step: Step<Tally> | undefined;
  readonly tally: Tally;
  readonly errors: readonly WriteError[];
}

export function runStatements<Tally>(store: Store, command: Statements<Tally>): Progress {
  const { length } = command.statements;
  if (length === 0 || length > MAX_WRITE_BATCH) {
    throw new StoreError(16, `Write batch sizes must be between 1 and ${MAX_WRITE_BATCH}. Got ${length} operations.`);
  }
  return runSlice(store, command, { index: 0, step: undefined, tally: command.tally, errors: [] });
}

function runSlice<Tally>(store: Store, command: Statements<Tally>, from: Place<Tally>): Progress {
  const slice = new Slice(store);
  const tally = command.copy(from.tally);
  const errors = [...from.errors];
  let { step } = from;
  for (let { index } = from; index < command.statements.length; index++) {
    try {
      if (slice.over) return new Rest(() => runSlice(store, command, { index, step, tally, errors }));
      step = step === undefined ? runOne(command, index, tally, slice) : step(tally, slice);
      if (step !== undefined) {
        const rest = step;
        return new Rest(() => runSlice(store, command, { index, step: rest, tally, errors }));
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      errors.push({ index, error });
      step = undefined;
      if (command.ordered) break;
    }
  }
  return command.reply(tally, errors);
}

function runOne<Tally>(command: Statements<Tally>, index: number, tally: Tally, slice: Slice): Step<Tally> | undefined {
  const statement = command.statements[index];
  if (statement?.type !== TYPE.object) throw new StoreError(14, 'a write statement must be an object');
  beginEffort();
  return command.run(statement, index, tally, slice);
}
