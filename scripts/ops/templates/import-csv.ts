import type { Db } from 'mongodb';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import type { SenderDocument } from '../../../shared/senders/sender.ts';
import { listSenders } from '../../../shared/senders/store.ts';
import { type Imported, importTemplates } from '../../../shared/templates/store.ts';
import { type CsvOptions, type CsvProblem, readTemplateCsv } from './csv.ts';
import { decodeFile, type Encoding } from './csv-encoding.ts';

export interface ImportOptions extends CsvOptions {
  /** Import the good rows even if others are bad. */
  readonly skipBad?: boolean;
  /** Detected by default. */
  readonly encoding?: Encoding;
}

/** A header of the file that the account may not use (yet): messages with its templates are refused until it may. */
export interface UnusableSender {
  readonly sender: string;
  /** Number of rows in the file. */
  readonly rows: number;
  readonly status: 'not registered' | Exclude<SenderDocument['status'], 'approved'>;
}

/** `problems` lists the bad rows of this file, imported or not. */
export type ImportedCsv =
  | ({
      readonly kind: 'imported';
      readonly problems: readonly CsvProblem[];
      readonly unusable: readonly UnusableSender[];
    } & Imported)
  | { readonly kind: 'refused'; readonly problems: readonly CsvProblem[] }
  /** It is not such an export at all, so leaving out rows does not help. */
  | { readonly kind: 'unreadable'; readonly detail: string };

/**
 * Registers an account's templates from an operator's export: all of them or, when any row is bad, none. Templates of headers
 * that the account does not have are registered too, and these headers are listed: an export has all headers of a business, and
 * headers may be added before or after the import.
 */
export async function importTemplateCsv(
  db: Db,
  clock: Clock,
  account: AccountId,
  file: Uint8Array,
  options: ImportOptions = {},
): Promise<ImportedCsv> {
  const decoded = decodeFile(file, options.encoding);
  if (decoded.kind === 'unreadable') return decoded;
  const read = readTemplateCsv(decoded.text, options);
  if (read.kind === 'unreadable') return read;
  const { templates, problems, rowsBySender } = read;
  if (problems.length > 0 && options.skipBad !== true) return { kind: 'refused', problems };
  const known = new Map((await listSenders(db, account)).map(({ sender, status }) => [sender, status]));
  const unusable = [...rowsBySender].flatMap(([sender, rows]): UnusableSender[] => {
    const status = known.get(sender) ?? 'not registered';
    return status === 'approved' ? [] : [{ sender, rows, status }];
  });
  return { kind: 'imported', problems, unusable, ...(await importTemplates(db, clock, account, templates)) };
}
