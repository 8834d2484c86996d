import { beginEffort } from '../bson/effort.ts';
import { malformed, StoreError } from '../bson/errors.ts';
import { TYPE, type Value } from '../bson/read.ts';
import type { WriteError } from './reply.ts';
import { type Progress, Rest, Slice, type Step } from './slices.ts';
import type { Store } from './store.ts';

/** mongod's limit, told to drivers in `hello`. */
export const MAX_WRITE_BATCH = 100_000;

/** One write command with its statements, each done on its own. `Form`: the fields of a statement. */
export interface Statements<Tally, Form> {
  readonly statements: readonly Value[];
  /** Called for all statements before the first runs: a malformed one refuses the whole command, as in mongod. */
  form(statement: Value): Form;
  /** After the first error no further statement runs. */
  readonly ordered: boolean;
  readonly tally: Tally;
  copy(tally: Tally): Tally;
  run(form: Form, index: number, tally: Tally, slice: Slice): Step<Tally> | undefined;
  reply(tally: Tally, errors: readonly WriteError[]): Buffer;
}

/** Where a slice begins. */
interface Place<Tally> {
  readonly index: number;
  readonly step: Step<Tally> | undefined;
  readonly tally: Tally;
  readonly errors: readonly WriteError[];
}

export function runStatements<Tally, Form>(store: Store, command: Statements<Tally, Form>): Progress {
  const { length } = command.statements;
  if (length === 0 || length > MAX_WRITE_BATCH)
    throw malformed(`Write batch sizes must be from 1 to ${MAX_WRITE_BATCH}`);
  const forms = command.statements.map((statement) => {
    if (statement.type !== TYPE.object) throw malformed('a write statement must be an object');
    return command.form(statement);
  });
  return runSlice(store, { ...command, forms }, { index: 0, step: undefined, tally: command.tally, errors: [] });
}

interface Checked<Tally, Form> extends Statements<Tally, Form> {
  readonly forms: readonly Form[];
}

function runSlice<Tally, Form>(store: Store, command: Checked<Tally, Form>, from: Place<Tally>): Progress {
  const slice = new Slice(store);
  const tally = command.copy(from.tally);
  const errors = [...from.errors];
  let { step } = from;
  for (let { index } = from; index < command.forms.length; index++) {
    try {
      if (slice.over) return new Rest(() => runSlice(store, command, { index, step, tally, errors }));
      if (step !== undefined) step = step(tally, slice);
      else {
        beginEffort();
        step = command.run(command.forms[index] as Form, index, tally, slice); // index is below the length
      }
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
