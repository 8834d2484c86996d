import type { Db, Filter } from 'mongodb';
import { type Actor, type AuditDocument, entries } from '../../../shared/people/audit.ts';
import { isOperatorScope } from '../../../shared/people/keys/key.ts';
import { findKeys } from '../../../shared/people/keys/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import { type AccountId, type AuditId, idTime, lowestId } from '../../../shared/platform/runtime/ids.ts';

export interface AuditQuery {
  readonly account?: AccountId;
  readonly subject?: { readonly kind: string; readonly id: string };
  /** `since` is included, `until` is not. */
  readonly since?: Date;
  readonly until?: Date;
  readonly after?: AuditId;
}

const MINUTE_MS = 60_000;

/**
 * Newest first, at most `limit`. Walks an index by id, which carries the time of the change; but ids of changes by keys
 * and users have only the minute (`minuteAuditId`) and a hash, so minutes are read whole and sorted here.
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

/** What comes after that entry. If it is gone, all entries: better twice than never. */
function behind(id: AuditId, sorted: readonly AuditDocument[]): readonly AuditDocument[] {
  return sorted.slice(sorted.findIndex(({ _id }) => _id === id) + 1);
}

function newestFirst(a: AuditDocument, b: AuditDocument): number {
  return startOfMinute(b._id) - startOfMinute(a._id) || b.at.getTime() - a.at.getTime() || (a._id < b._id ? 1 : -1);
}

function filterOf({ account, subject, since, until }: AuditQuery, { $gte, $lt }: IdRange): Filter<AuditDocument> {
  // The id bounds only serve the index; the entries' own times decide.
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

/** The kinds of things whose changes and views an account sees. Others, such as routes, are the operators'. */
export const AUDIT_KINDS = [
  'account',
  'message',
  'verification',
  'batch',
  'schedule',
  'customer',
  'search',
  'export',
  'erasure',
  'prefix',
  'statement',
  'credits',
  'key',
  'user',
  'webhook',
  'sender',
  'cta',
  'template',
  'chat-template',
  'number',
  'opt-out',
  'opt-in',
  'provider',
] as const;

/** The most entries that one call reads for one actor. A short page may still say where to continue. */
const AUDIT_WALK_MAX = 1_000;
/** Entries read at once for one actor. Without an actor nearly all entries read are shown. */
const ACTOR_STEP = 250;

export interface AuditActor {
  readonly kind: Actor['kind'];
  readonly id?: string | undefined;
}

/** Up to `limit` entries that the account may see, newest first, and where to continue. */
export async function listOwnEntries(
  db: Db,
  query: AuditQuery,
  actor: AuditActor | undefined,
  limit: number,
): Promise<{ readonly entries: readonly AuditDocument[]; readonly next: AuditId | undefined }> {
  const step = actor === undefined ? limit + 1 : ACTOR_STEP;
  const fitting: AuditDocument[] = [];
  let after = query.after;
  for (let walked = 0; walked < AUDIT_WALK_MAX; walked += step) {
    const found = await listEntries(db, { ...query, ...(after && { after }) }, step);
    fitting.push(...found.filter((entry) => isShown(entry) && (actor === undefined || isBy(entry, actor))));
    const entries = fitting.slice(0, limit);
    if (fitting.length > limit) return { entries, next: entries.at(-1)?._id };
    if (found.length < step) return { entries, next: undefined };
    after = found.at(-1)?._id;
  }
  return { entries: fitting, next: after };
}

function isBy({ actor }: AuditDocument, { kind, id }: AuditActor): boolean {
  return shownKind(actor) === kind && (id === undefined || actor.id === id);
}

/** To an account operators are the service provider, whether by command, key or dashboard. */
export function shownKind({ kind, operator }: Actor): Actor['kind'] {
  return operator === true ? 'ops' : kind;
}

/** Hides keys of operators and things of the operator. */
function isShown({ subject, before, after }: AuditDocument): boolean {
  const known: readonly string[] = AUDIT_KINDS;
  if (!known.includes(subject.kind)) return false;
  return subject.kind !== 'key' || ![before, after].some((state) => isOperators(state?.scopes));
}

function isOperators(scopes: unknown): boolean {
  return Array.isArray(scopes) && scopes.some(isOperatorScope);
}

/** Names of keys and users, by `key …` and `user usr_…` as statement and audit write them. Two reads at most. */
export async function peopleNames(db: Db, people: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const of = (kind: string) => [
    ...new Set(people.filter((who) => who.startsWith(kind)).map((who) => who.slice(kind.length))),
  ];
  const [keys, users] = [of('key '), of('user ')];
  const [foundKeys, foundUsers] = await Promise.all([
    keys.length === 0 ? [] : findKeys(db, keys),
    users.length === 0
      ? []
      : db
          .collection<UserDocument>('users')
          .find(
            { _id: { $in: users as UserDocument['_id'][] } } /* as they were noted */,
            { projection: { name: 1, username: 1 } },
          )
          .toArray(),
  ]);
  return new Map([
    ...foundKeys.map(({ _id, name }) => [`key ${_id}`, name] as const),
    ...foundUsers.map(({ _id, name, username }) => [`user ${_id}`, name ?? username] as const),
  ]);
}
