import type { Collection, Db } from 'mongodb';
import { roomFor } from '../../money/accounts/quotas.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { raiseVersion } from './approved-store.ts';
import { documentOf, readApprovals, textOf } from './store.ts';
import { type NewTemplate, type TemplateDocument, type TemplateUpdate, templateKey } from './template.ts';

/** What imports of an export write (`export/import-csv.ts`). */

/** Most templates that are imported at once: about 300 KB. */
const CHUNK = 500;

export interface Imported {
  readonly created: readonly string[];
  /** Ids that the account already had: they stay as they are. */
  readonly known: readonly string[];
}

/**
 * Registers what an account asks for itself: everything that it does not have yet, or nothing. May be repeated after a failure. Throws
 * `QuotaReached` when there is no place for all of it. If others take the last places at the same moment, some of it may be stored by
 * then: a repeated call finds it.
 */
export async function importRequests(
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
    await insertNew(db, 'templates', placed); // A duplicate key: the template is there, or somebody else took its place.
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

/** Registers what an operator brings. May be repeated after a failure: existing ones are only counted. */
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

/**
 * Makes templates what an export says of them, each only while it is what was compared. Approvals are announced, and
 * rejections. Returns how many were changed.
 */
export async function updateTemplates(
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
      // Counts are by the slots of the text that was.
      ...(set.content === undefined ? {} : { slots: '' as const }),
      // Only what nobody has approved is counted.
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
      // Messages may wait with the text of what was approved, so only operators may remove it.
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
