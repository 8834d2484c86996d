import type { Db } from 'mongodb';
import type { Clock } from '../../runtime/clock.ts';
import type { AccountId } from '../../runtime/ids.ts';
import type { SenderDocument } from '../../senders/sender.ts';
import { listSenders } from '../../senders/store.ts';
import { decodeFile, type Encoding } from '../../sheets/encoding.ts';
import { type Imported, importRequests, importTemplates, tryImport } from '../store.ts';
import type { NewTemplate } from '../template.ts';
import { type CsvOptions, type CsvProblem, readTemplateCsv } from './csv.ts';

export interface ImportOptions extends CsvOptions {
  /** Import the good rows even if others are bad. */
  readonly skipBad?: boolean;
  /** Detected by default. */
  readonly encoding?: Encoding;
  /** Only say what would be done, bad rows left out. */
  readonly dryRun?: boolean;
  /** The account asks for them itself: an operator approves them, whatever the file says. */
  readonly asRequests?: boolean;
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
 * headers may be added before or after the import. Throws `QuotaReached`, with nothing registered, when the account asks for more than
 * it has places for.
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
  const { skipBad = false, dryRun = false, asRequests = false } = options;
  if (problems.length > 0 && !skipBad && !dryRun) return { kind: 'refused', problems };
  const known = new Map((await listSenders(db, account)).map(({ sender, status }) => [sender, status]));
  const unusable = [...rowsBySender].flatMap(([sender, rows]): UnusableSender[] => {
    const status = known.get(sender) ?? 'not registered';
    return status === 'approved' ? [] : [{ sender, rows, status }];
  });
  const wanted = asRequests ? templates.map(asRequest) : templates;
  const by = asRequests ? 'account' : 'operator';
  const store = asRequests ? importRequests : importTemplates;
  const done = dryRun ? await tryImport(db, account, wanted, by) : await store(db, clock, account, wanted);
  return { kind: 'imported', problems, unusable, ...done };
}

function asRequest(template: NewTemplate): NewTemplate {
  return { ...template, status: template.status === 'rejected' ? 'rejected' : 'submitted', requested: true };
}
