import type { InboundDocument } from '../../../shared/messages/inbound.ts';
import { listUnassigned, type UnassignedPlace } from '../../../shared/messages/inbound-store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { InboundId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';

/**
 * GET /v2/admin/strays (extension): received SMS that belong to no account, newest first. With `text=yes` also their
 * texts: customers wrote them, so they are shown on demand only.
 */
export function createStrays({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['text', 'limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'strays', isPlace, problems);
    const text = parseQueryChoice('text', query.text, ['yes', 'no'], problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const found = await listUnassigned(db, limit + 1, after && strayPlace(after));
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const data = page.flatMap((one) => strayRecord(one, text === 'yes'));
    sendJson(res, pageOf('strays', data, last && `${last.expiresAt?.getTime()} ${last._id}`));
  };
}

type Place = `${number} ${InboundId}`;

function isPlace(text: string): text is Place {
  return /^\d{1,15} inb_[0-9a-z]{26}$/.test(text);
}

function strayPlace(place: Place): UnassignedPlace {
  const [at, id] = place.split(' ');
  return { expiresAt: new Date(Number(at)), id: id as InboundId }; // isPlace has looked
}

function strayRecord({ _id, at, carrier, unassigned, expiresAt }: InboundDocument, text: boolean): object[] {
  if (unassigned === undefined || expiresAt === undefined) return [];
  const { from, to, type, body } = unassigned;
  const about = { stray_id: _id, at: isoTimestamp(at), carrier_id: carrier, from, to, type };
  return [{ ...about, text: text ? body : null, expires_at: isoTimestamp(expiresAt) }];
}
