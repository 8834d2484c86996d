import type { Collection, Db } from 'mongodb';
import { listSenders, type SenderDocument } from '../../carriers/sender.ts';
import type { AccountDocument } from '../../money/accounts/account.ts';
import { roomFor } from '../../money/accounts/quotas.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { Encoding } from '../../platform/sheets/parse.ts';
import {
  type CsvOptions,
  type CsvProblem,
  PROBLEMS_MAX,
  type ReadFile,
  type ReadFileJob,
  readTemplateFile,
  type TemplateRow,
  templatesOf,
} from './csv.ts';
import { documentOf, findTemplates, raiseVersion, readApprovals, textOf } from './store.ts';
import {
  type ChangedField,
  type NewTemplate,
  sameText,
  type TemplateDocument,
  type TemplateStatus,
  type TemplateUpdate,
  templateKey,
} from './template.ts';

interface ImportOptions extends Pick<CsvOptions, 'routes'> {
  /** Import the good rows even if others are bad. */
  readonly skipBad?: boolean;
  readonly encoding?: Encoding;
  /** Only say what would be done, bad rows left out. */
  readonly dryRun?: boolean;
  /** Change registered templates that differ from the file. */
  readonly update?: boolean;
  /** The account asks for them itself: an operator approves them, whatever the file says. */
  readonly asRequests?: boolean;
}

/** A header of the file that the account may not use (yet): messages with its templates are refused until it may. */
export interface UnusableSender {
  readonly sender: string;
  readonly rows: number;
  readonly status: 'not registered' | Exclude<SenderDocument['status'], 'approved'>;
}

/** `problems`: the first bad rows of this file, imported or not. */
export type ImportedCsv =
  | ({
      readonly kind: 'imported';
      readonly problems: readonly CsvProblem[];
      readonly badRows: number;
      readonly unusable: readonly UnusableSender[];
    } & Stored)
  | { readonly kind: 'refused'; readonly problems: readonly CsvProblem[]; readonly badRows: number }
  /** The file is no such export, so leaving out rows does not help. */
  | { readonly kind: 'unreadable'; readonly detail: string };

interface Stored {
  readonly created: readonly string[];
  /** Ids that the account already had, as in the file or otherwise. */
  readonly known: readonly string[];
  /** The first registered templates that differ from the file, and the number of all of them. */
  readonly changed: readonly TemplateDifference[];
  readonly changedCount: number;
  readonly updated: number;
  /** Templates that the DLT platform allows no more, but that are sent until they are updated. */
  readonly stillSent: readonly string[];
}

type ImportingAccount = Pick<AccountDocument, '_id' | 'entityId' | 'lineBreaks'>;

/**
 * Registers an account's templates from an operator's export: all of them or, when any row is bad, none. Templates of
 * headers that the account does not have are registered too, and these headers are listed: an export has all headers of
 * a business, which may be added before or after the import. `read` reads the file outside this thread. Throws
 * `QuotaReached`, with nothing registered, when the account asks for more than it has places for.
 */
export async function importTemplateCsv(
  db: Db,
  clock: Clock,
  account: ImportingAccount,
  file: Uint8Array,
  options: ImportOptions = {},
  read: (job: ReadFileJob) => ReadFile | Promise<ReadFile> = readTemplateFile,
): Promise<ImportedCsv> {
  const { skipBad = false, dryRun = false, asRequests = false, routes, encoding } = options;
  const found = await read({
    file,
    exactLineBreaks: account.lineBreaks === 'exact',
    ...(routes === undefined ? {} : { routes }),
    ...(encoding === undefined ? {} : { encoding }),
  });
  if (found.kind === 'unreadable') return found;
  const { groups, problems, badRows, rowsBySender } = found;
  if (badRows > 0 && !skipBad && !dryRun) return { kind: 'refused', problems, badRows };
  const unusable = await unusableSenders(db, account._id, rowsBySender);
  const all = { created: [] as string[], known: [] as string[], changed: [] as TemplateDifference[] };
  const stillSent: string[] = [];
  let [changedCount, updated] = [0, 0];
  // A group at a time, so that the largest file keeps neither the process nor the store from other work.
  const compared = [];
  for (const group of groups) compared.push(await compare(db, account, templatesOf(group), options));
  const wanted = compared.reduce((sum, { fresh }) => sum + fresh.length, 0);
  if (asRequests) await roomFor(db, 'templates', account._id, wanted);
  for (const { fresh, known, changed, updates } of compared) {
    const done = dryRun ? { created: fresh.map(({ dltId }) => dltId), known: [] } : await store(fresh);
    if (options.update === true && !dryRun) updated += await updateTemplates(db, clock, account._id, updates);
    else stillSent.push(...updates.filter(endsSending).map(({ before }) => before.dltId));
    all.created.push(...done.created);
    all.known.push(...known, ...done.known);
    all.changed.push(...changed.slice(0, PROBLEMS_MAX - all.changed.length));
    changedCount += changed.length;
  }
  return { kind: 'imported', problems, badRows, unusable, ...all, changedCount, updated, stillSent };

  function store(fresh: readonly NewTemplate[]) {
    const register = asRequests ? importRequests : importTemplates;
    return register(db, clock, account._id, fresh);
  }
}

/** Divides a group of rows into new ones, known ones, and known ones that differ. */
async function compare(
  db: Db,
  account: ImportingAccount,
  rows: readonly TemplateRow[],
  { asRequests = false }: ImportOptions,
) {
  const stored = await findTemplates(
    db,
    account._id,
    rows.map(({ dltId }) => dltId),
  );
  const [fresh, known]: [NewTemplate[], string[]] = [[], []];
  const [changed, updates]: [TemplateDifference[], TemplateUpdate[]] = [[], []];
  const comparedBy = { asRequests, exactLineBreaks: account.lineBreaks === 'exact', entityId: account.entityId };
  for (const row of rows) {
    const before = stored.get(row.dltId);
    if (before === undefined) fresh.push(newTemplate(row, asRequests));
    else {
      known.push(row.dltId);
      const found = differenceOf(before, row, comparedBy);
      if (found === undefined) continue;
      changed.push(found.told);
      updates.push(found.update);
    }
  }
  return { fresh, known, changed, updates };
}

function newTemplate({ line, told, ...template }: TemplateRow, asRequests: boolean): NewTemplate {
  if (!asRequests) return template;
  return { ...template, status: template.status === 'rejected' ? 'rejected' : 'submitted', requested: true };
}

function endsSending({ before, set }: TemplateUpdate): boolean {
  return before.status === 'approved' && set.status === 'rejected';
}

async function unusableSenders(
  db: Db,
  account: AccountId,
  rowsBySender: readonly (readonly [sender: string, rows: number])[],
): Promise<readonly UnusableSender[]> {
  const known = new Map((await listSenders(db, account)).map(({ sender, status }) => [sender, status]));
  return rowsBySender.flatMap(([sender, rows]): UnusableSender[] => {
    const status = known.get(sender) ?? 'not registered';
    return status === 'approved' ? [] : [{ sender, rows, status }];
  });
}

interface TemplateDifference {
  readonly line: number;
  readonly dltId: string;
  readonly changes: readonly {
    readonly field: ChangedField;
    readonly old: string;
    readonly new: string;
  }[];
}

interface ComparedBy {
  readonly exactLineBreaks?: boolean | undefined;
  /** The account's PE id, which a template without one has. */
  readonly entityId?: string | undefined;
  /** The account itself imports: only the end of a template applies at once; all else waits for an operator. */
  readonly asRequests?: boolean | undefined;
}

/** Only what the file itself tells counts; undefined when it tells nothing new. */
function differenceOf(
  before: TemplateDocument,
  row: TemplateRow,
  { exactLineBreaks, entityId, asRequests = false }: ComparedBy,
): { readonly told: TemplateDifference; readonly update: TemplateUpdate } | undefined {
  const text: Partial<Pick<TemplateDocument, Exclude<ChangedField, 'status'>>> = {
    ...(sameText(before.content, row.content, exactLineBreaks) ? {} : { content: row.content }),
    ...(sameSet(before.senders, row.senders) ? {} : { senders: row.senders }),
    ...(!row.told.includes('routes') || sameSet(before.routes, row.routes) ? {} : { routes: row.routes }),
    ...(row.entityId === undefined || row.entityId === (before.entityId ?? entityId) ? {} : { entityId: row.entityId }),
  };
  const hasOtherText = Object.keys(text).length > 0;
  const wanted = row.told.includes('status') ? row.status : before.status;
  const status = asRequests ? asked(before.status, wanted, hasOtherText) : wanted;
  const set = { ...(status === before.status ? {} : { status }), ...text };
  const fields = (['status', 'content', 'senders', 'routes', 'entityId'] as const).filter((field) => field in set);
  if (fields.length === 0) return undefined;
  const changes = fields.map((field) => ({ field, old: shown(before[field]), new: shown(set[field]) }));
  return {
    told: { line: row.line, dltId: row.dltId, changes },
    update: {
      ...{ before, set },
      ...(status === 'rejected' ? { reason: row.reason } : {}),
      ...(asRequests && status === 'submitted' ? { requested: true } : {}),
    },
  };
}

function asked(before: TemplateStatus, wanted: TemplateStatus, hasOtherText: boolean): TemplateStatus {
  if (wanted === 'rejected') return 'rejected';
  return before === 'rejected' || hasOtherText ? 'submitted' : before;
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry) => other.includes(entry));
}

function shown(value: string | readonly string[] | undefined): string {
  return typeof value === 'object' ? value.join(', ') : (value ?? '');
}

/** Templates imported at once: about 300 KB. */
const CHUNK = 500;

interface Imported {
  readonly created: readonly string[];
  /** Ids that the account already had: they stay as they are. */
  readonly known: readonly string[];
}

/**
 * Registers everything that an account asks for and does not have yet, or nothing. May be repeated after a failure.
 * Throws `QuotaReached` when there is no place for all of it; some may be stored if others take the last places at the
 * same moment: a repeated call finds it.
 */
async function importRequests(
  db: Db,
  clock: Clock,
  account: AccountId,
  given: readonly NewTemplate[],
): Promise<Imported> {
  const now = clock.now();
  const { created, known } = await wouldImport(db, account, given);
  const documents = new Map(given.map((template) => [template.dltId, documentOf(account, template, now)]));
  for (let missing = created; missing.length > 0; ) {
    const places = await roomFor(db, 'templates', account, missing.length);
    const placed = missing.map((id, n) => ({ ...documents.get(id), place: places[n] }));
    await insertNew(db, 'templates', placed); // duplicate key: the template is there, or its place is taken
    missing = (await wouldImport(db, account, given)).created;
  }
  await raiseVersion(db, account);
  return { created, known };
}

async function wouldImport(db: Db, account: AccountId, given: readonly NewTemplate[]): Promise<Imported> {
  const ids = [...new Set(given.map(({ dltId }) => dltId))];
  const there = await readApprovals(
    db,
    ids.map((id) => templateKey(account, id)),
  );
  const isKnown = (id: string): boolean => there.has(templateKey(account, id));
  return { created: ids.filter((id) => !isKnown(id)), known: ids.filter(isKnown) };
}

/** May be repeated after a failure: existing ones are only counted. */
export async function importTemplates(
  db: Db,
  clock: Clock,
  account: AccountId,
  given: readonly NewTemplate[],
): Promise<Imported> {
  const now = clock.now();
  const created: string[] = [];
  const known: string[] = [];
  for (let i = 0; i < given.length; i += CHUNK) {
    const operations = given.slice(i, i + CHUNK).map((template) => {
      const { _id, ...rest } = documentOf(account, template, now);
      return { updateOne: { filter: { _id }, update: { $setOnInsert: rest }, upsert: true } };
    });
    const { upsertedIds } = await templates(db).bulkWrite(operations, { ordered: false });
    for (const [j, template] of given.slice(i, i + CHUNK).entries())
      (j in upsertedIds ? created : known).push(template.dltId);
  }
  await raiseVersion(db, account);
  return { created, known };
}

/** Changes each only while it is as compared; announces approvals and rejections. Returns how many. */
async function updateTemplates(
  db: Db,
  clock: Clock,
  account: AccountId,
  updates: readonly TemplateUpdate[],
): Promise<number> {
  if (updates.length === 0) return 0;
  const at = clock.now();
  const operations = updates.map(({ before, set, reason, requested }) => {
    const { _id, status } = before;
    const isDecided = set.status === 'approved' || set.status === 'rejected';
    const said = reason === undefined ? {} : { reason };
    const unset = {
      ...(set.status === undefined || reason !== undefined ? {} : { reason: '' as const }),
      // The slots belong to the earlier text.
      ...(set.content === undefined ? {} : { slots: '' as const }),
      // Only unapproved templates take a place.
      ...(set.status === 'approved' ? { place: '' as const } : {}),
    };
    const update = {
      $set: {
        ...set,
        ...said,
        ...(isDecided ? { decidedAt: at } : {}),
        ...(requested && { requested, createdAt: at }),
      },
      ...(Object.keys(unset).length > 0 ? { $unset: unset } : {}),
      // Messages may wait with the approved text, so only operators may remove it.
      ...(set.status === 'approved' || status === 'approved' ? { $min: { approvedAt: at } } : {}),
      ...(isDecided ? { $push: { unannounced: { event: set.status, status: set.status, ...said, at } } } : {}),
    };
    return { updateOne: { filter: { _id, status, ...textOf(before) }, update } };
  });
  const { matchedCount } = await templates(db).bulkWrite(operations, { ordered: false });
  await raiseVersion(db, account);
  return matchedCount;
}

function templates(db: Db): Collection<TemplateDocument> {
  return db.collection('templates');
}
