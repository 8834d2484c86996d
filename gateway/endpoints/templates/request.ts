import { QuotaReached } from '../../../shared/money/accounts/quotas.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { newId, type TemplateRequestId } from '../../../shared/platform/runtime/ids.ts';
import { routesOfTemplateCategory } from '../../../shared/templates/sms/category.ts';
import { createTemplateRequest, findTemplateRequest } from '../../../shared/templates/sms/request-store.ts';
import { createTemplate, findTemplate, TemplateExists } from '../../../shared/templates/sms/store.ts';
import { type TemplateDocument, type TemplateText, templateVersion } from '../../../shared/templates/sms/template.ts';
import type { TemplateRequestDocument } from '../../../shared/templates/sms/template-request.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { readRequest, whole } from '../../http/fields/request.ts';
import type { Accepted, Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { quotaProblem } from '../../http/quota-problem.ts';
import { REQUEST_TEMPLATE } from './fields.ts';
import { templateRecord } from './record.ts';

/**
 * POST /v2/account/templates (extension): asks for a DLT template. With its id it waits for an operator's approval; without, for
 * its id first. Nothing that an account can say here makes a text sendable.
 */
export function createRequestTemplate(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Action<TemplateRequestId> {
  const { db, clock, config } = deps;
  return {
    name: 'request-template',
    newId: () => newId('tpr', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const read = await readRequest(REQUEST_TEMPLATE, bodyOf(res), {
        account: caller.account,
        now: clock.now(),
        config,
      });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { name, senders, category, content, dlt_id: dltId, entity_id: entityId } = whole(read);
      const account = caller.account._id;
      const given = {
        name: name ?? dltId ?? `Requested ${isoTimestamp(clock.now()).slice(0, 10)}`,
        ...{ senders: [...new Set(senders)], routes: routesOfTemplateCategory(category), category, content },
        ...(entityId === undefined ? {} : { entityId }),
      };
      const known = dltId === undefined ? undefined : await findTemplate(db, account, dltId);
      if (known !== undefined)
        return known.status === 'submitted' && isSame(known, given) ? asked(known) : exists(known);
      const make = (): Promise<TemplateDocument | TemplateRequestDocument> =>
        dltId === undefined
          ? createTemplateRequest(db, clock, { _id: id, account, ...given })
          : createTemplate(
              db,
              clock,
              account,
              { dltId, ...given, status: 'submitted', requested: true, request: id },
              'account',
            );
      try {
        const made = await changeAudited(deps, caller, {
          action: 'template.request',
          subject: { kind: 'template', id: dltId ?? id },
          read: async () => undefined,
          make,
          madeOf: templateRecord,
          isRefusal: (error) => error instanceof TemplateExists || error instanceof QuotaReached,
        });
        return asked(made);
      } catch (error) {
        if (error instanceof QuotaReached) return { kind: 'refused', problem: quotaProblem(error) };
        const other = error instanceof TemplateExists && dltId ? await findTemplate(db, account, dltId) : undefined;
        if (other === undefined) throw error;
        return other.request === id ? asked(other) : exists(other);
      }
    },
    /** One with a DLT id is found when the request is done again. */
    async recover(account, id) {
      const found = await findTemplateRequest(db, clock, account, id);
      return found && asked(found);
    },
  };
}

function asked(made: TemplateDocument | TemplateRequestDocument): Accepted {
  return { kind: 'accepted', body: { status: 'success', ...templateRecord(made) } };
}

function isSame(known: TemplateDocument, given: TemplateText): boolean {
  return templateVersion(known) === templateVersion(given);
}

function exists({ dltId, status }: TemplateDocument) {
  const detail = `The account has the template ${dltId} already; it is ${status}. A rejected one can be changed; for another text give another id.`;
  return { kind: 'refused', problem: ['template_exists', { detail }] } as const;
}
