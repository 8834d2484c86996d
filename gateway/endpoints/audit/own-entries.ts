import type { Db } from 'mongodb';
import type { Actor, AuditDocument } from '../../../shared/people/audit/entry.ts';
import { isOperatorScope } from '../../../shared/people/keys/key.ts';
import type { AuditId } from '../../../shared/platform/runtime/ids.ts';
import { type AuditQuery, listEntries } from './list-entries.ts';

/** The kinds of things of which an account is shown who changed or looked at them. Others, such as routes, are the operator's own. */
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

/** The most entries that one call looks at for those of one actor. A page may then be short and still say where to continue. */
const AUDIT_WALK_MAX = 1_000;
/** Entries read at once for those of one actor. All others of a page are shown, but for a few. */
const ACTOR_STEP = 250;

export interface AuditActor {
  readonly kind: Actor['kind'];
  /** Absent: all of that kind. */
  readonly id?: string | undefined;
}

/** Up to `limit` entries of an account that it may see, newest first, and where to go on. */
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

/** An operator is the service provider to an account, whether by command, key or dashboard. */
export function shownKind({ kind, operator }: Actor): Actor['kind'] {
  return operator === true ? 'ops' : kind;
}

/** Not what concerns keys of operators, and not things of the operator. */
function isShown({ subject, before, after }: AuditDocument): boolean {
  const known: readonly string[] = AUDIT_KINDS;
  if (!known.includes(subject.kind)) return false;
  return subject.kind !== 'key' || ![before, after].some((state) => isOperators(state?.scopes));
}

function isOperators(scopes: unknown): boolean {
  return Array.isArray(scopes) && scopes.some(isOperatorScope);
}
