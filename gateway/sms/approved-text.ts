import type { Route } from '../../shared/messages/message.ts';
import { planText } from '../../shared/sms/segment.ts';
import { renderTemplate } from '../../shared/templates/render.ts';
import { type PlannedText, textProblem } from '../fields/message-fields.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import type { Caller } from '../http/context.ts';
import type { FieldProblems } from '../http/fields.ts';
import { PROBLEMS, type ProblemSlug } from '../http/problem.ts';
import type { ApprovedTemplates } from '../templates/approved-templates.ts';
import { matchTemplate } from '../templates/match.ts';
import { explainMismatch, type Mismatch } from '../templates/mismatch.ts';
import type { IndexedTemplate } from '../templates/template-index.ts';

/**
 * The rule of DLT accounts ("DLT", decisions.md): a text is an instance of an approved template of its sender for the route.
 * Checked before any debit; what the index says is at most `KEY_CACHE_MS` old.
 */

/** What a message keeps of its template. Both absent for accounts without DLT that name no template. */
export interface TemplateIds {
  readonly template?: string;
  readonly entityId?: string;
}

export type Approval =
  | { readonly kind: 'approved'; readonly ids: TemplateIds }
  | { readonly kind: 'refused'; readonly problem: readonly [ProblemSlug, ProblemAnswer] };

/** Whether the caller may send this text as `sender`. Rejects with the store's error. */
export async function approveText(
  templates: ApprovedTemplates,
  account: Caller['account'],
  sender: string,
  route: Route,
  text: string,
): Promise<Approval> {
  if (account.dlt !== 'on') return { kind: 'approved', ids: {} };
  const own = await templates.ofSender(account._id, sender, route);
  const template = matchTemplate(own, text);
  if (template !== undefined) return approveTemplate(account, template);
  const mismatch = explainMismatch(own, await templates.ofAccount(account._id), text);
  return { kind: 'refused', problem: templateMismatch(mismatch) };
}

/** The approved template of the sender with this id. Undefined when there is none. Rejects with the store's error. */
export async function findApproved(
  templates: ApprovedTemplates,
  account: Caller['account'],
  sender: string,
  route: Route,
  dltId: string,
): Promise<IndexedTemplate | undefined> {
  const own = await templates.ofSender(account._id, sender, route);
  return own.templates.find((template) => template.dltId === dltId);
}

/** Fills the template's slots. Every param that does not fit, and a text that gets too long, is a problem; undefined then. */
export function renderText(
  { pattern }: Pick<IndexedTemplate, 'pattern'>,
  params: readonly string[],
  maxSegments: number,
  problems: FieldProblems,
): PlannedText | undefined {
  const rendered = renderTemplate(pattern, params);
  if (rendered.kind === 'invalid') {
    for (const { index, code, detail } of rendered.problems) {
      problems.add(index === undefined ? 'params' : `params[${index}]`, code, detail);
    }
    return undefined;
  }
  const { text } = rendered;
  const plan = planText(text);
  const problem = textProblem(text, plan, maxSegments);
  if (problem === undefined) return { text, plan };
  problems.add('params', problem.code, problem.detail);
  return undefined;
}

/** What is rendered from an approved template, or matches it. With DLT it travels under a PE id: the template's own or the account's. */
export function approveTemplate(
  account: Caller['account'],
  { dltId, entityId = account.entityId }: Pick<IndexedTemplate, 'dltId' | 'entityId'>,
): Approval {
  if (entityId !== undefined) return { kind: 'approved', ids: { template: dltId, entityId } };
  if (account.dlt !== 'on') return { kind: 'approved', ids: { template: dltId } };
  const detail = `The template ${dltId} names no PE id, and the account has none. ${PROBLEMS.entity_id_missing.mend}`;
  return { kind: 'refused', problem: ['entity_id_missing', { detail }] };
}

/** False for an account with DLT that has no PE id for any text of this sender: the first thing to be mended. Rejects with the store's error. */
export async function hasEntityId(
  templates: ApprovedTemplates,
  account: Caller['account'],
  sender: string,
  route: Route,
): Promise<boolean> {
  if (account.dlt !== 'on' || account.entityId !== undefined) return true;
  const own = await templates.ofSender(account._id, sender, route);
  return own.templates.some(({ entityId }) => entityId !== undefined);
}

/** It quotes the caller's own text back to the caller, and nobody else. */
function templateMismatch(mismatch: Mismatch): readonly [ProblemSlug, ProblemAnswer] {
  const { kind, scrubCode, detail, template, at, expected, found, slot } = mismatch;
  return [
    'template_mismatch',
    {
      detail,
      errors: [{ field: 'message', code: 'template_mismatch', detail }],
      extra: {
        scrub_code: scrubCode,
        // Absent members are left out by JSON.
        mismatch: { kind, template_id: template?.dltId, template_name: template?.name, at, expected, found, slot },
      },
    },
  ];
}
