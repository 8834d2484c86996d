import { QuotaReached } from '../../../shared/money/accounts/quotas.ts';
import { routesOfTemplateCategory } from '../../../shared/templates/sms/category.ts';
import { giveDltId, resubmitRequest } from '../../../shared/templates/sms/request-store.ts';
import { TemplateExists } from '../../../shared/templates/sms/store.ts';
import type { TemplateDocument } from '../../../shared/templates/sms/template.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Caller, callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { type FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { readRequest, whole } from '../../http/fields/request.ts';
import { quotaProblem } from '../../http/quota-problem.ts';
import { CHANGE_TEMPLATE } from './fields.ts';
import { type FoundTemplate, findOwnTemplate, NO_TEMPLATE } from './find.ts';
import { resubmitTemplate } from './own-store.ts';
import { templateRecord } from './record.ts';

type Text = Parameters<typeof resubmitTemplate>[3];
type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config'>;

/**
 * PATCH /v2/account/templates/{template_id} (extension): gives a request the id that the DLT platform gave it, or a rejected one
 * another text. Both wait for an operator again.
 */
export function createChangeTemplate(deps: Deps): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const caller = callerOf(res);
    const account = caller.account._id;
    const read = await readRequest(CHANGE_TEMPLATE, bodyOf(res), { account: caller.account, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { dlt_id: dltId, category, ...rest } = whole(read);
    const own = await findOwnTemplate(db, clock, account, req.params.template_id);
    if (own === undefined) return sendProblem(res, 'template_not_found', NO_TEMPLATE);
    const text: Text = {
      ...rest,
      ...(category === undefined ? {} : { category, routes: routesOfTemplateCategory(category) }),
    };
    const hasText = Object.keys(text).length > 0;
    noteConflicts(own, hasText, dltId, read.problems);
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const changed = await changeAudited(deps, caller, {
      action: 'template.change',
      subject: { kind: 'template', id: own.found._id.startsWith('tpr_') ? own.found._id : String(own.found.dltId) },
      read: async () => templateRecord(own.found),
      make: async () => {
        if (hasText && !(await resubmit(deps, caller, own, text))) return undefined;
        if (dltId === undefined || own.kind === 'template')
          return findOwnTemplate(db, clock, account, req.params.template_id);
        const found = await giveDltId(db, clock, account, own.found._id, dltId, 'account');
        return found && ({ kind: 'template', found } as const);
      },
      madeOf: (made) => templateRecord((made ?? own).found),
      isRefusal: isNoRoom,
    }).catch(refused);
    if (changed instanceof QuotaReached) return sendProblem(res, ...quotaProblem(changed));
    if (changed instanceof TemplateExists) {
      const detail = `Another template of the account has the id ${dltId}.`;
      return sendProblem(res, 'template_exists', { detail });
    }
    if (changed === undefined) return sendProblem(res, 'template_not_editable');
    sendJson(res, { status: 'success', ...templateRecord(changed.found) });
  };
}

function noteConflicts(own: FoundTemplate, hasText: boolean, dltId: string | undefined, problems: FieldProblems): void {
  if (!hasText && dltId === undefined) {
    problems.add('dlt_id', 'missing_field', 'Give `dlt_id`, or what is to change.');
  }
  if (own.kind === 'template' && dltId !== undefined && dltId !== (own.found as TemplateDocument).dltId) {
    problems.add('dlt_id', 'conflict', `It has the id ${own.found.dltId}. Ask for a template with the other id.`);
  }
}

function resubmit({ db }: Deps, { account }: Caller, own: FoundTemplate, text: Text): Promise<boolean> {
  return own.kind === 'request'
    ? resubmitRequest(db, account._id, own.found._id, text)
    : resubmitTemplate(db, account._id, own.found.dltId, text);
}

function isNoRoom(error: unknown): error is TemplateExists | QuotaReached {
  return error instanceof TemplateExists || error instanceof QuotaReached;
}

function refused(error: unknown): TemplateExists | QuotaReached {
  if (isNoRoom(error)) return error;
  throw error;
}
