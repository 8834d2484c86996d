import type { Db } from 'mongodb';
import type { Clock } from '../runtime/clock.ts';
import type { AccountId } from '../runtime/ids.ts';
import { type CsvOptions, type CsvProblem, readTemplateCsv } from './csv.ts';
import { type Imported, importTemplates } from './store.ts';

export interface ImportOptions extends CsvOptions {
  /** Import the good rows although others are bad. */
  readonly skipBad?: boolean;
}

/** `problems` are of this file, whatever was done about them. */
export type ImportedCsv =
  | ({ readonly kind: 'imported'; readonly problems: readonly CsvProblem[] } & Imported)
  | { readonly kind: 'refused'; readonly problems: readonly CsvProblem[] };

/** Registers an account's templates from an operator's export: all of them or, when any row is bad, none. */
export async function importTemplateCsv(
  db: Db,
  clock: Clock,
  account: AccountId,
  text: string,
  options: ImportOptions = {},
): Promise<ImportedCsv> {
  const { templates, problems } = readTemplateCsv(text, options);
  if (problems.length > 0 && options.skipBad !== true) return { kind: 'refused', problems };
  return { kind: 'imported', problems, ...(await importTemplates(db, clock, account, templates)) };
}
