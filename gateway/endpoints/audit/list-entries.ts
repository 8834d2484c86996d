import type { Db, Filter } from 'mongodb';
import type { AuditDocument } from '../../../shared/people/audit/entry.ts';
import { entries } from '../../../shared/people/audit/store.ts';
import { type AccountId, type AuditId, idTime, lowestId } from '../../../shared/platform/runtime/ids.ts';

export interface AuditQuery {
  readonly account?: AccountId;
  readonly subject?: { readonly kind: string; readonly id: string };
  /** Changes at or after `since` and before `until`. */
  readonly since?: Date;
  readonly until?: Date;
  /** Continue after this entry. */
  readonly after?: AuditId;
}

const MINUTE_MS = 60_000;

/**
 * Newest first, at most `limit`. Walks an index by id. Ids carry the time of the change, but the id of what a key or user changed
 * has only its minute (`minuteAuditId`), and a hash. So minutes are read whole, and sorted here.
 */
export async function listEntries(db: Db, query: AuditQuery, limit: number): Promise<readonly AuditDocument[]> {
  const { after } = query;
  const read = (ids: IdRange, most = 0): Promise<AuditDocument[]> =>
    entries(db).find(filterOf(query, ids)).sort({ _id: -1 }).limit(most).toArray();
  const rest = after === undefined ? [] : behind(after, (await read(minuteOf(after))).sort(newestFirst));
  if (rest.length >= limit) return rest.slice(0, limit);

  const page = await read(after === undefined ? {} : { $lt: minuteOf(after).$gte }, limit - rest.length);
  const last = page.length < limit - rest.length ? undefined : page.at(-1)?._id;
  const others = last === undefined ? [] : await read({ $gte: minuteOf(last).$gte, $lt: last });
  return [...rest, ...[...page, ...others].sort(newestFirst)].slice(0, limit);
}

interface IdRange {
  readonly $gte?: AuditId;
  readonly $lt?: AuditId;
}

function minuteOf(id: AuditId): { readonly $gte: AuditId; readonly $lt: AuditId } {
  const minute = startOfMinute(id);
  return { $gte: lowestId('aud', new Date(minute)), $lt: lowestId('aud', new Date(minute + MINUTE_MS)) };
}

function startOfMinute(id: AuditId): number {
  return Math.floor(idTime(id).getTime() / MINUTE_MS) * MINUTE_MS;
}

/** What comes after that entry. All of them when it is gone: better once more than not at all. */
function behind(id: AuditId, sorted: readonly AuditDocument[]): readonly AuditDocument[] {
  return sorted.slice(sorted.findIndex(({ _id }) => _id === id) + 1);
}

function newestFirst(a: AuditDocument, b: AuditDocument): number {
  return startOfMinute(b._id) - startOfMinute(a._id) || b.at.getTime() - a.at.getTime() || (a._id < b._id ? 1 : -1);
}

function filterOf({ account, subject, since, until }: AuditQuery, { $gte, $lt }: IdRange): Filter<AuditDocument> {
  // The id bounds only make use of the index; the entries' own times decide.
  const from = [$gte, since && lowestId('aud', new Date(Math.max(since.getTime() - MINUTE_MS, 0)))];
  const below = [$lt, until && lowestId('aud', until)];
  const ids = { ...bound('$gte', highest(from)), ...bound('$lt', lowest(below)) };
  const times = { ...(since && { $gte: since }), ...(until && { $lt: until }) };
  return {
    ...(account && { account }),
    ...(subject && { 'subject.kind': subject.kind, 'subject.id': subject.id }),
    ...(Object.keys(ids).length > 0 && { _id: ids }),
    ...((since || until) && { at: times }),
  };
}

function bound(name: '$gte' | '$lt', id: AuditId | undefined): IdRange {
  return id === undefined ? {} : { [name]: id };
}

function highest(ids: readonly (AuditId | undefined)[]): AuditId | undefined {
  return ids
    .filter((id) => id !== undefined)
    .sort()
    .at(-1);
}

function lowest(ids: readonly (AuditId | undefined)[]): AuditId | undefined {
  return ids.filter((id) => id !== undefined).sort()[0];
}
