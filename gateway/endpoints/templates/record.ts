import { z } from 'zod';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type TemplateDocument, templateVersion } from '../../../shared/templates/sms/template.ts';
import type { TemplateRequestDocument } from '../../../shared/templates/sms/template-request.ts';
import type { Shown } from '../../http/endpoint.ts';
import { flag, named, text, time } from '../../http/shapes.ts';

export const AccountTemplate = named(
  'AccountTemplate',
  {
    template_id: text('Its id on the DLT platform, or `tpr_…` while it has none.', {
      pattern: '^([0-9]{10,20}|tpr_[0-9a-hjkmnp-tv-z]{26})$',
      example: '1107160000000012345',
    }),
    dlt_id: text('Its id on the DLT platform.', { example: '1107160000000012345' }).nullable(),
    name: text('A name for people.', { example: 'Login code' }),
    state: z.enum(['requested', 'submitted', 'approved', 'rejected']).meta({
      description:
        "`requested`: it waits for its id of the DLT platform. `submitted`: it waits for an operator's approval. Only texts of `approved` ones are sent.",
      example: 'submitted',
    }),
    reason: text('Why it was rejected.').nullable(),
    paused: flag('An operator holds its messages back.'),
    senders: z.array(text()).meta({ description: 'The headers that may send it.', example: ['HARKRA'] }),
    routes: z.array(z.enum(ROUTES)).meta({ description: 'Where it may be sent.', example: ['transactional'] }),
    category: text(
      'Its category on the DLT platform, if it is known: `transactional`, `service_implicit`, `service_explicit` or `promotional`.',
      { example: 'service_implicit' },
    ).nullable(),
    content: text('Its text, slots as {#var#}.', { example: 'Your code is {#var#}. Do not share it.' }),
    entity_id: text("PE id of the business, when it is not the account's own.").nullable(),
    version: text('Changes with the text, the senders and the routes. An approval names it.', {
      pattern: '^[0-9a-f]{12}$',
      example: '3f9a01c2d4e5',
    }),
    requested_at: time('When it was asked for, or registered.', '2026-11-22T10:00:00+00:00'),
    decided_at: text('When its state was decided.', { format: 'date-time' }).nullable(),
  },
  'A DLT template of the account.',
);

/** A template as its account sees it. `template_id` is its DLT id, or `tpr_…` while it has none. */
export function templateRecord(template: TemplateDocument | TemplateRequestDocument): Shown<typeof AccountTemplate> {
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
