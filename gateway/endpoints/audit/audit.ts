import type { AuditDocument } from '../../../shared/people/audit/entry.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isAuditId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryTime } from '../../http/query.ts';
import { AUDIT_KINDS, type AuditActor, listOwnEntries, shownKind } from './audit-list.ts';

/** This many entries of a page count as one request. An entry has the thing twice. */
const ENTRIES_PER_REQUEST = 50;
const ACTOR_KINDS = ['ops', 'key', 'user'] as const;
const PARAMETERS = ['actor', 'subject', 'since', 'until', 'limit', 'cursor'] as const;

/** GET /v2/account/audit (extension): who changed what of the account's settings, newest first, without secrets. */
export function createAudit({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, PARAMETERS, problems);
    const actor = parseActor(query.actor, problems);
    const subject = parseSubject(query.subject, problems);
    const since = parseQueryTime('since', query.since, problems);
    const until = parseQueryTime('until', query.until, problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'audit', isAuditId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const account = callerOf(res).account._id;
    const wanted = {
      account,
      ...(subject && { subject }),
      ...(since && { since }),
      ...(until && { until }),
      ...(after && { after }),
    };
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const { entries, next } = await listOwnEntries(db, wanted, actor, limit);
      return pageOf('audit', entries.map(entryRecord), next);
    });
  };
}

/**
 * An operator is shown only as `ops`, without name, machine or address. The outcome `begun` means perhaps done: the process stopped
 * in between.
 */
function entryRecord({ _id, at, actor, action, subject, outcome, before, after, times = 1 }: AuditDocument): object {
  const { id, name = null, address = null } = actor;
  const kind = shownKind(actor);
  const shown = kind === 'ops' ? { id: null, name: null, address: null } : { id, name, address };
  return {
    audit_id: _id,
    at: isoTimestamp(at),
    actor: { kind, ...shown },
    action,
    subject: { kind: subject.kind, id: subject.id ?? null },
    outcome,
    times,
    before: before ?? null,
    after: after ?? null,
  };
}

/** `ops`, `key`, `user`, or one of them: `key:01kam…`. */
function parseActor(text: string | undefined, problems: FieldProblems): AuditActor | undefined {
  if (text === undefined) return undefined;
  const [name = '', id] = text.split(':', 2);
  const kind = ACTOR_KINDS.find((one) => one === name);
  if (kind !== undefined && id !== '' && !(kind === 'ops' && id !== undefined)) return { kind, id };
  const detail = 'It must be ops, key or user, or one key or user: key:01kam….';
  return problems.add('actor', 'invalid_value', detail);
}

function parseSubject(text: string | undefined, problems: FieldProblems) {
  if (text === undefined) return undefined;
  const colon = text.indexOf(':');
  const kind = AUDIT_KINDS.find((one) => one === text.slice(0, colon));
  const id = text.slice(colon + 1);
  if (kind !== undefined && id !== '') return { kind, id };
  const detail = `It must be a kind, a colon and an id: key:01kam…. The kinds are ${AUDIT_KINDS.join(', ')}.`;
  return problems.add('subject', 'invalid_value', detail);
}
