import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type TemplateDocument, templateVersion } from '../../../shared/templates/sms/template.ts';
import type { TemplateRequestDocument } from '../../../shared/templates/sms/template-request.ts';

/** A template as its account sees it. `template_id` is its DLT id, or `tpr_…` while it has none. */
export function templateRecord(template: TemplateDocument | TemplateRequestDocument): object {
  const { name, senders, routes, category, entityId, content, status, reason, createdAt, decidedAt } = template;
  const dltId = 'slots' in template || !template._id.startsWith('tpr_') ? template.dltId : undefined;
  return {
    template_id: dltId ?? template._id,
    dlt_id: dltId ?? null,
    name,
    state: status,
    reason: reason ?? null,
    paused: 'paused' in template && template.paused === true,
    senders,
    routes,
    category: category ?? null,
    content,
    entity_id: entityId ?? null,
    version: templateVersion(template),
    requested_at: isoTimestamp(createdAt),
    decided_at: decidedAt === undefined ? null : isoTimestamp(decidedAt),
  };
}
