import type { Db } from 'mongodb';
import { z } from 'zod';
import { predictRefusals } from '../../../shared/carriers/scrub-rules.ts';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import { planText } from '../../../shared/messages/sms-plan.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type AccountId, isTemplateRequestId } from '../../../shared/platform/runtime/ids.ts';
import { CONTENT_MAX, type Pattern, parseContent } from '../../../shared/templates/sms/pattern.ts';
import { findTemplateRequest, listTemplateRequests } from '../../../shared/templates/sms/request-store.ts';
import { SLOT_MEANING, SLOT_TYPES } from '../../../shared/templates/sms/slot.ts';
import { findTemplate, listTemplates } from '../../../shared/templates/sms/store.ts';
import {
  comparedText,
  isDltId,
  routesOfTemplateCategory,
  TEMPLATE_CATEGORIES,
  type TemplateCategory,
  type TemplateDocument,
  type TemplateRequestDocument,
  templateVersion,
} from '../../../shared/templates/sms/template.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { flag, named, pageShape, text, time, whole } from '../../api/shapes.ts';
import { choice, optional, required, string } from '../../http/fields/field.ts';
import { sender } from '../../http/fields/message-fields.ts';
import { cursorOf, limit, pageOfFound, readsPer } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { ctaCheckOf, ctaWords } from '../sms/ctas/check.ts';
import { PredictedRefusal } from '../sms/scrubbing/facts.ts';

/** An account's DLT templates, and the check of a text while it is typed. New ones: requests.ts, import.ts. */

const STATES = ['requested', 'submitted', 'approved', 'rejected'] as const;
type State = (typeof STATES)[number];

export const AccountTemplate = named('AccountTemplate', 'A DLT template of the account.', {
  template_id: text('Its id on the DLT platform, or `tpr_…` while it has none.', {
    pattern: '^([0-9]{10,20}|tpr_[0-9a-hjkmnp-tv-z]{26})$',
    example: '1107160000000012345',
  }),
  dlt_id: text('Its id on the DLT platform.', { example: '1107160000000012345' }).nullable(),
  name: text('A name for people.', { example: 'Login code' }),
  state: z.enum(STATES).meta({
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
});

export const accountTemplates = endpoint({
  id: 'accountTemplates',
  call: 'templates.list',
  method: 'get',
  path: '/v2/account/templates',
  tag: 'Account',
  summary: 'DLT templates with their states',
  description:
    "Extension. The account's DLT templates: first what has no id of the DLT platform yet, newest first, then the others by id. A page counts as one request for each 100 of `limit`.",
  scopes: ['read', 'manage'],
  test: 'same',
  query: {
    state: optional(choice(STATES, 'Templates of this state.')),
    limit,
    cursor: cursorOf('account_templates', isPlace),
  },
  reads: readsPer(100),
  answer: pageShape('AccountTemplatePage', AccountTemplate),
  async handle({ db, clock }, { caller, query: { state, limit, cursor } }) {
    const found = await readPage(db, clock, caller.account._id, state, cursor, limit + 1);
    return pageOfFound('account_templates', found, limit, templateRecord, placeOf);
  },
});

type Listed = TemplateDocument | TemplateRequestDocument;

async function readPage(
  db: Db,
  clock: Clock,
  account: AccountId,
  status: State | undefined,
  after: string | undefined,
  limit: number,
): Promise<readonly Listed[]> {
  const behindRequests = after !== undefined && !isTemplateRequestId(after);
  const requests =
    behindRequests || status === 'submitted' || status === 'approved'
      ? []
      : await listTemplateRequests(
          db,
          clock,
          account,
          { status },
          after !== undefined && isTemplateRequestId(after) ? after : undefined,
          limit,
        );
  if (requests.length >= limit || status === 'requested') return requests;
  const rest = await listTemplates(db, account, status, behindRequests ? after : undefined, limit - requests.length);
  return [...requests, ...rest];
}

function isPlace(text: string): text is string {
  return isTemplateRequestId(text) || isDltId(text);
}

function placeOf(listed: Listed): string {
  return isTemplateRequestId(listed._id) ? listed._id : (listed.dltId ?? '');
}

/** Longer than any content may be, so that a text that is too long is explained instead of refused. */
const CHECKED_MAX = 10_000;

const Lengths = (shortest: number, longest: number) =>
  z.strictObject({
    shortest: whole('With every slot as short as it may be.', { example: shortest }),
    longest: whole('With every slot as long as it may be.', { example: longest }),
  });

const TemplateCheck = named('TemplateCheck', 'What a text would be as a template.', {
  characters: whole('Of the text as it is typed; 2,000 are allowed.', { example: 38 }),
  slots: z.array(
    z.strictObject({
      type: z.enum(SLOT_TYPES),
      takes: text('What it holds, in words.', { example: 'any text' }),
      longest: whole('The longest value.', { example: 30 }),
    }),
  ),
  encoding: z.enum(['GSM7', 'UCS2']).describe('How the text travels.'),
  units: Lengths(31, 61),
  segments: Lengths(1, 1),
  problems: z
    .array(z.strictObject({ at: whole('The character where it begins, from 1.'), detail: text() }))
    .meta({ description: 'What is wrong with it. Empty: it can be asked for.', example: [] }),
  predicted_refusals: z
    .array(PredictedRefusal.extend({ scrub_code: PredictedRefusal.shape.scrub_code.nullable() }))
    .meta({
      description:
        'What the platform would refuse the template for (`scrub_code` null), and operators each message of it. Absent: nothing.',
      example: [],
    })
    .optional(),
});

export const checkTemplate = endpoint({
  id: 'checkTemplate',
  call: 'templates.check',
  method: 'post',
  path: '/v2/account/templates/check',
  tag: 'Account',
  summary: "Check a template's text",
  description:
    'Extension. Slots, length and segments of a text, and what is wrong with it, as it is typed; what the DLT platform would refuse it for, and operators its messages. Changes nothing.',
  scopes: ['read', 'manage'],
  test: 'same',
  body: request({
    content: required(
      string(
        { description: 'The text as it is so far. Of a longer one, the first 10,000 characters are looked at.' },
        (text) => text.slice(0, CHECKED_MAX),
      ),
    ),
    sender: optional(sender.describe('The header that would send it: its form and category are looked at.')),
    category: optional(choice(TEMPLATE_CATEGORIES, 'Its category on the DLT platform.')),
  }),
  answer: TemplateCheck,
  examples: { body: { example: { content: 'Your code is {#var#}. Do not share it.' } } },
  async handle(gateway, { caller: { account }, body: { content, sender, category } }) {
    const text = comparedText(content, account);
    const parsed = parseContent(text);
    if (parsed.kind === 'malformed') return checked(text);
    const fixed = parsed.pattern.parts.map((part) => (part.kind === 'literal' ? part.text : ' ')).join('');
    const missing = ((await ctaCheckOf(gateway, account, undefined))?.(fixed) ?? []).map(ctaWords);
    const [route] = category === undefined ? [] : routesOfTemplateCategory(category);
    const template = category === undefined ? undefined : { dltId: 'it', category };
    const messages = predictRefusals(defined({ sender, route, template, missing }));
    const all = [
      ...templateRefusals(parsed.pattern, category).map((said) => ({ scrub_code: null, ...said })),
      ...messages.map(({ code, ...said }) => ({ scrub_code: code, ...said })),
    ];
    return { ...checked(text), ...(all.length > 0 && { predicted_refusals: all }) };
  },
});

/** Segments are counted with all slots at their shortest and at their longest, filled with GSM characters. */
function checked(content: string): Shown<typeof TemplateCheck> {
  const problems = contentFaults(content);
  const parsed = parseContent(content);
  const filled = (fill: 'min' | 'max'): string =>
    parsed.kind === 'malformed'
      ? content
      : parsed.pattern.parts
          .map((part) => (part.kind === 'literal' ? part.text : 'x'.repeat(part.slot[fill])))
          .join('');
  const [shortest, longest] = [planText(filled('min')), planText(filled('max'))];
  return {
    characters: content.length,
    slots:
      parsed.kind === 'malformed'
        ? []
        : parsed.pattern.slots.map(({ type, max }) => ({ type, takes: SLOT_MEANING[type], longest: max })),
    encoding: longest.encoding,
    units: { shortest: shortest.units, longest: longest.units },
    segments: { shortest: shortest.segments, longest: longest.segments },
    problems,
  };
}

export function contentFaults(content: string): readonly { readonly at: number; readonly detail: string }[] {
  const parsed = parseContent(content);
  if (parsed.kind === 'pattern') return [];
  return parsed.faults.map(({ at, detail }) => {
    const place = Math.min(at, CONTENT_MAX) + 1;
    return { at: place, detail: `At character ${place}: ${detail}` };
  });
}

export type FoundTemplate =
  | { readonly kind: 'template'; readonly found: TemplateDocument }
  | { readonly kind: 'request'; readonly found: TemplateRequestDocument };

/** `id`: a DLT id or a request's. */
export async function findOwnTemplate(
  db: Db,
  clock: Clock,
  account: AccountId,
  id: unknown,
): Promise<FoundTemplate | undefined> {
  if (typeof id !== 'string') return undefined;
  if (isTemplateRequestId(id)) {
    const found = await findTemplateRequest(db, clock, account, id);
    return found && { kind: 'request', found };
  }
  const found = isDltId(id) ? await findTemplate(db, account, id) : undefined;
  return found && { kind: 'template', found };
}

/** `template_id` is the DLT id, or `tpr_…` while there is none. */
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

interface TemplateRefusal {
  readonly certainty: 'sure' | 'possible';
  readonly cause: string;
  readonly advice: string;
}

/** Some portals accept more with a recorded reason; others accept more anyway. */
const SLOTS_MAX = 3;

/**
 * What DLT platforms refuse in a new template. Pure. Sources: TRAI's direction of 18-11-2025 on tagged variables, in
 * force for new templates since 14-01-2026 (Fast2SMS), with its rules about number and place of variables (BSE's copy);
 * Kaleyra's "Promotional" and "Service Explicit Message Content Type" (articles 3000105308, 3000105307).
 */
export function templateRefusals(
  { parts, slots }: Pattern,
  category: TemplateCategory | undefined,
): readonly TemplateRefusal[] {
  const found: TemplateRefusal[] = [];
  const add = (certainty: TemplateRefusal['certainty'], cause: string, advice: string) =>
    found.push({ certainty, cause, advice });
  const fixed = parts.flatMap((part) => (part.kind === 'literal' ? part.text : []));
  if (slots.some(({ type }) => type === 'var')) {
    add(
      'sure',
      'Platforms take no new template with {#var#} since 14 January 2026.',
      'Say what each variable holds: {#numeric#}, {#alphanumeric#}, {#url#}, {#urlott#}, {#cbn#} or {#email#}.',
    );
  }
  if (parts.some((part, i) => part.kind === 'slot' && parts[i + 1]?.kind === 'slot')) {
    add('possible', 'Two variables stand side by side.', 'Put fixed text between them.');
  }
  if (slots.length > SLOTS_MAX) {
    add(
      'possible',
      `It has ${slots.length} variables; many platforms take ${SLOTS_MAX}.`,
      'Write more of it as fixed text.',
    );
  }
  if (fixed.some((text) => text.includes('  '))) {
    add('possible', 'Two spaces stand side by side in the fixed text.', 'Remove one.');
  }
  if (fixed.some((text) => /[<>]/.test(text))) add('possible', 'The fixed text has < or >.', 'Remove it.');
  if (slots.length === 0 && (category === 'transactional' || category === 'service_implicit')) {
    add(
      'possible',
      'A template of this category has no variable.',
      'Make one of what differs, or choose another category.',
    );
  }
  return found;
}
