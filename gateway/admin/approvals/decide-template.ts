import type { Db } from 'mongodb';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { giveDltId, rejectTemplateRequest } from '../../../shared/templates/request-store.ts';
import { type Decision, decideTemplate, TemplateExists } from '../../../shared/templates/store.ts';
import { templateVersion } from '../../../shared/templates/template.ts';
import { type FoundTemplate, findOwnTemplate } from '../../endpoints/account-templates/templates.ts';
import type { Values } from '../../fields/field.ts';
import { readRequest, whole } from '../../fields/request.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { accountInPath } from '../accounts/find-account.ts';
import { DECIDE_TEMPLATE } from './decision-fields.ts';

type Decided = Values<typeof DECIDE_TEMPLATE.fields>;

/**
 * POST /v2/admin/accounts/{account_id}/templates/{template_id}/decision (extension): approves or rejects a DLT template. A request
 * that has no id of the operators gets it with the approval.
 */
export function createDecideTemplate(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(DECIDE_TEMPLATE, bodyOf(res), { account: {}, now: clock.now(), config });
    const { problems } = read;
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = await accountInPath(db, req);
    if (account === undefined) return sendProblem(res, 'account_not_found');
    const template = await findOwnTemplate(db, clock, account._id, req.params.template_id);
    if (template === undefined) return sendProblem(res, 'template_not_found', NO_SUCH);
    const wanted = whole(read);
    if (wanted.decision === 'approved' && template.kind === 'request' && wanted.dlt_id === undefined) {
      problems.add('dlt_id', 'missing_field', 'Give the id that the operators gave to it.');
      return sendProblem(res, ...invalidRequest(problems));
    }
    const isOwn = template.kind === 'request' || template.found.requested === true;
    if (wanted.decision === 'approved' && isOwn && wanted.version === undefined) {
      problems.add(
        'version',
        'missing_field',
        'The account asked for it itself: name the version of the text that you read.',
      );
      return sendProblem(res, ...invalidRequest(problems));
    }
    if (wanted.version !== undefined && wanted.version !== templateVersion(template.found)) {
      return sendProblem(res, 'template_changed');
    }
    try {
      const { found } = template;
      const done = await changeAudited(deps, requesterOf(res), {
        action: wanted.decision === 'approved' ? 'template.approve' : 'template.reject',
        subject: { kind: 'template', id: `${account._id}:${req.params.template_id}` },
        account: account._id,
        read: async () => ({ status: found.status, reason: found.reason ?? null }),
        make: () => decide(db, clock, template, wanted),
        madeOf: () => ({ status: wanted.decision, reason: wanted.reason ?? null, dltId: wanted.dlt_id ?? null }),
        isRefusal: (error) => error instanceof TemplateExists,
      });
      if (done === 'changed') return sendProblem(res, 'template_changed');
      if (done === 'not_found') return sendProblem(res, 'template_not_found', NO_SUCH);
      const { decision, reason = null, dlt_id = null } = wanted;
      const id = dlt_id ?? String(req.params.template_id);
      sendJson(res, { status: 'success', account_id: account._id, template_id: id, decision, reason });
    } catch (error) {
      if (!(error instanceof TemplateExists)) throw error;
      problems.add(
        'dlt_id',
        'invalid_value',
        'Another template of the account has this id. Check the id on the DLT platform.',
      );
      sendProblem(res, ...invalidRequest(problems));
    }
  };
}

const NO_SUCH = { detail: 'Check the template_id: the account has no such template.' };

async function decide(
  db: Db,
  clock: Clock,
  { kind, found }: FoundTemplate,
  { decision, reason, dlt_id: dltId = '' }: Decided,
): Promise<Decision> {
  const { account } = found;
  if (kind === 'template') return decideTemplate(db, clock, account, found.dltId, decision, reason, found);
  if (decision === 'rejected') {
    return (await rejectTemplateRequest(db, clock, account, found._id, reason ?? '')) ? 'decided' : 'changed';
  }
  const template = await giveDltId(db, clock, account, found._id, dltId, 'operator');
  return template === undefined ? 'changed' : decideTemplate(db, clock, account, dltId, 'approved', reason, found);
}
