import { explainRoute } from '../../../shared/carriers/routing/explain.ts';
import { laneOf, PRIORITIES, ROUTES } from '../../../shared/messages/document/routing.ts';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { NO_SUCH_ACCOUNT } from '../../http/fields/operator-fields.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';

const RECIPIENT = /^[1-9][0-9]{7,14}$/;
const SENDER = /^.{1,15}$/;

/** GET /v2/admin/routes/explain (extension): who would carry a message to a number now, and why. Sends nothing. */
export function createExplain({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['to', 'account_id', 'sender', 'route', 'priority'], problems);
    const { to = '', account_id: id = '', sender = 'HARKRA', route = 'transactional', priority = 'normal' } = query;
    if (!RECIPIENT.test(to)) problems.add('to', 'invalid_phone', 'It must be 8 to 15 digits, country code first.');
    if (!SENDER.test(sender)) problems.add('sender', 'invalid_sender', 'It must have 1 to 15 characters.');
    const known = parseQueryChoice('route', route, ROUTES, problems);
    const urgency = parseQueryChoice('priority', priority, PRIORITIES, problems);
    const account = isAccountId(id) ? await findAccount(db, id) : undefined;
    if (account === undefined) problems.add('account_id', 'invalid_value', NO_SUCH_ACCOUNT);
    if (problems.count > 0 || account === undefined || known === undefined || urgency === undefined) {
      return sendProblem(res, ...invalidRequest(problems));
    }
    const message = { account: account._id, to, sender, route: known, lane: laneOf(known, urgency, account.dlt) };
    const found = await explainRoute(db, message, clock.now());
    const { kind, path, carriers, others, verdict, by } = found;
    sendJson(res, {
      verdict,
      by,
      outcome: kind,
      route_id: found.route?._id ?? null,
      path: path ?? null,
      carriers: carriers.map(({ carrier, state, takes }) => ({ carrier_id: carrier, words: state, takes })),
      others,
    });
  };
}
