import type { AuditDocument } from '../../../shared/people/audit/entry.ts';
import { type AuditQuery, listEntries } from '../../../shared/people/audit/list-entries.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AuditId, isAuditId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { parseQueryAccount } from '../../http/fields/operator-fields.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryTime } from '../../http/query.ts';

/**
 * GET /v2/admin/audit (extension): who changed what, of all accounts and of what belongs to none, newest first. Every filter uses
 * an index: by account, by thing, or by time.
 */
export function createAudit({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const names = ['account_id', 'subject', 'since', 'until', 'limit', 'cursor'] as const;
    const { account_id, subject, ...query } = parseQuery(req, names, problems);
    const account = parseQueryAccount(account_id, problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor<AuditId>(query.cursor, 'audit', isAuditId, problems);
    const since = parseQueryTime('since', query.since, problems);
    const until = parseQueryTime('until', query.until, problems);
    const [, kind, id] = /^([a-z-]+):(.{1,200})$/.exec(subject ?? '') ?? [];
    if (subject !== undefined && (kind === undefined || id === undefined)) {
      problems.add('subject', 'invalid_value', 'It must be a kind and an id, like carrier:airtel or key:01kam….');
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const wanted: AuditQuery = {
      ...(account !== undefined && { account }),
      ...(kind !== undefined && id !== undefined && { subject: { kind, id } }),
      ...(since && { since }),
      ...(until && { until }),
      ...(after && { after }),
    };
    const found = await listEntries(db, wanted, limit + 1);
    const page = found.slice(0, limit);
    sendJson(res, pageOf('audit', page.map(entryRecord), found.length > limit ? page.at(-1)?._id : undefined));
  };
}

function entryRecord({
  _id,
  at,
  actor,
  action,
  subject,
  account,
  outcome,
  before,
  after,
  times,
}: AuditDocument): object {
  return {
    audit_id: _id,
    at: isoTimestamp(at),
    actor: { kind: actor.kind, id: actor.id, name: actor.name ?? null, address: actor.address ?? null },
    action,
    subject: { kind: subject.kind, id: subject.id ?? null },
    account_id: account ?? null,
    outcome,
    times: times ?? 1,
    before: before ?? null,
    after: after ?? null,
  };
}
