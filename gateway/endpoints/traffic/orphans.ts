import type { OrphanDocument } from '../../../shared/messages/settlement/orphan.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { findOrphans, isPlace, type Place, placeOf } from './orphan-list.ts';

/**
 * GET /v2/admin/orphans (extension): receipts of the last three days that fit no message, newest first. Each is tried again when
 * the answer with its id comes; one that stays is for a message of somebody else, or its submit was lost.
 */
export function createOrphans({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { carrier_id: carrier, ...query } = parseQuery(req, ['carrier_id', 'limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor<Place>(query.cursor, 'orphans', isPlace, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const found = await findOrphans(db, { carrier, after })
      .limit(limit + 1)
      .toArray();
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    sendJson(res, pageOf('orphans', page.map(orphanRecord), last && placeOf(last)));
  };
}

function orphanRecord({ _id, carrier, at, from, to, part, excerpt, keys, expiresAt }: OrphanDocument): object {
  return {
    orphan_id: _id,
    carrier_id: carrier,
    at: isoTimestamp(at),
    from,
    to,
    state: part.state,
    error_code: part.error ?? null,
    carrier_message_id: keys[0]?.split(':').slice(1).join(':') ?? null,
    receipt: excerpt,
    expires_at: isoTimestamp(expiresAt),
  };
}
