import type { InboundDocument } from '../../../shared/inbound/inbound.ts';
import { listStrays } from '../../../shared/inbound/store.ts';
import { isoTimestamp } from '../../../shared/runtime/clock.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/fields.ts';
import { parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import type { GatewayDeps } from '../../process/deps.ts';

/**
 * GET /v2/admin/strays (extension): received SMS that belong to no account, newest first. With `text=yes` also their
 * texts: customers wrote them, so they are shown on demand only.
 */
export function createStrays({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['text', 'limit'], problems);
    const limit = parseLimit(query.limit, problems);
    const text = parseQueryChoice('text', query.text, ['yes', 'no'], problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const found = await listStrays(db, limit);
    sendJson(res, { strays: found.flatMap((one) => strayRecord(one, text === 'yes')) });
  };
}

function strayRecord({ _id, at, carrier, stray, expiresAt }: InboundDocument, text: boolean): object[] {
  if (stray === undefined || expiresAt === undefined) return [];
  const { from, to, type, body } = stray;
  const about = { stray_id: _id, at: isoTimestamp(at), carrier_id: carrier, from, to, type };
  return [{ ...about, text: text ? body : null, expires_at: isoTimestamp(expiresAt) }];
}
