import type { NumberRules } from '../../shared/accounts/number-check.ts';
import { type BatchDocument, type BatchEntry, ENTRIES_PER_CHUNK } from '../../shared/batches/batch.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import type { Route } from '../../shared/messages/message.ts';
import { laneOf, pathOf } from '../../shared/messages/routing.ts';
import type { AccountId, BatchId } from '../../shared/runtime/ids.ts';
import { parseMessage, parsePriority, parseReference, parseRoute, parseSender } from '../fields/message-fields.ts';
import { parseParams, parseRecipients, type Recipients, withoutDuplicates } from '../fields/recipients.ts';
import type { Caller, JsonObject } from '../http/context.ts';
import { type FieldProblems, invalidRequest, optionalBoolean, optionalString } from '../http/fields.ts';
import type { Refused } from '../idempotency/once.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { ApprovedTemplates } from '../templates/approved-templates.ts';
import type { IndexedTemplate } from '../templates/template-index.ts';
import { type Approval, approveTemplate, approveText, findApproved, hasEntityId } from './approved-text.ts';
import { type BulkContent, hasParams, planTemplate } from './bulk-content.ts';
import { createMaySendAs } from './registered-senders.ts';
import type { NewBatch } from './unpaid-store.ts';

/** What a bulk request may have, sent now or later; `valid_until` is for the endpoint, which knows from when on. */
export const BULK_FIELDS = [
  'to',
  'message',
  'sender',
  'route',
  'recipients',
  'template_id',
  'params',
  'dedupe',
  'priority',
  'reference',
  'valid_until',
  'dry_run',
] as const;

/** A bulk request that may be sent: all is checked but the credits. */
export interface BulkOrder {
  readonly kind: 'bulk';
  readonly entries: readonly BatchEntry[];
  /** Of its batch. */
  readonly batch: Pick<
    BatchDocument,
    'total' | 'duplicates' | 'sender' | 'route' | 'path' | 'lane' | 'reference' | 'content' | 'entityId'
  >;
  /** Of the longest text. */
  readonly longest: Pick<BulkContent, 'encoding' | 'segments'>;
  readonly dryRun: boolean;
}

/**
 * Reads and checks a bulk request, in slices where it goes over the entries; what the endpoint found wrong with its own
 * fields is in `problems` already.
 */
export type ReadBulkOrder = (
  account: Caller['account'],
  body: JsonObject,
  problems: FieldProblems,
) => Promise<BulkOrder | Refused>;

export function createReadBulkOrder(deps: GatewayDeps & { readonly templates: ApprovedTemplates }): ReadBulkOrder {
  const { config, templates } = deps;
  const maySendAs = createMaySendAs(deps);

  return async (account, body, problems) => {
    const fields = await parseFields(body, account, config.maxSegments, problems);
    const template = fields.templateId === undefined ? undefined : await findTemplate(account, fields);
    const content = template === undefined ? fields.content : await contentOf(fields, template, problems);
    if (problems.count > 0) return { kind: 'refused', problem: invalidRequest(problems) };
    const { recipients, sender, route, dedupe, dryRun, reference } = fields;
    if (recipients === undefined || sender === undefined || route === undefined) {
      throw new Error('a field is missing without a problem');
    }
    if (!(await hasEntityId(templates, account, sender, route))) {
      return { kind: 'refused', problem: ['entity_id_missing', {}] };
    }
    if (!(await maySendAs(account, sender, route))) {
      const detail = `"${sender}" is not registered and approved for ${route} messages of this account.`;
      return { kind: 'refused', problem: ['sender_not_allowed', { detail }] };
    }
    if (fields.templateId !== undefined && template === undefined) {
      return { kind: 'refused', problem: ['template_not_found', {}] };
    }
    if (content === undefined) throw new Error('there is no content without a problem');
    const approval = await approve(account, sender, route, content, template);
    if (approval.kind === 'refused') return approval;
    const { template: dltId, entityId } = approval.ids;

    const entries = dedupe ? await withoutDuplicates(recipients.entries) : recipients.entries;
    const batch = {
      total: entries.length,
      ...(dedupe ? { duplicates: recipients.entries.length - entries.length } : {}),
      sender,
      route,
      path: pathOf(route),
      // Behind single messages, whoever sends them.
      lane: laneOf(route, 'low', account.dlt),
      ...(reference === undefined ? {} : { reference }),
      content: dltId === undefined ? content.content : { ...content.content, dltId },
      ...(entityId === undefined ? {} : { entityId }),
    };
    return { kind: 'bulk', entries, batch, longest: content, dryRun };
  };

  /** Looked for only when what names it is there. */
  async function findTemplate(account: Caller['account'], { templateId, sender, route }: Fields) {
    if (templateId === undefined || sender === undefined || route === undefined) return undefined;
    return findApproved(templates, account, sender, route, templateId);
  }

  /** A plain text is one for all and matched once; what is rendered from an approved template matches it. */
  async function approve(
    account: Caller['account'],
    sender: string,
    route: Route,
    { content }: BulkContent,
    template: IndexedTemplate | undefined,
  ): Promise<Approval> {
    if (template !== undefined) return approveTemplate(account, template);
    if (content.kind !== 'text') throw new Error('params are rendered without a template');
    return approveText(templates, account, sender, route, content.text);
  }

  async function contentOf(
    { recipients, params }: Fields,
    template: IndexedTemplate,
    problems: FieldProblems,
  ): Promise<BulkContent | undefined> {
    if (recipients === undefined) return undefined;
    return planTemplate({ template, recipients, params, maxSegments: config.maxSegments }, problems);
  }
}

/** The batch of an order, to be stored before it is paid. */
export function newBatch(_id: BatchId, account: AccountId, order: BulkOrder, validUntil: Date): NewBatch {
  return { _id, account, ...order.batch, validUntil, perChunk: ENTRIES_PER_CHUNK, done: 0, reserved: 0 };
}

/** What the real thing would take; `segments` and `encoding` of the longest text. Nothing has an id: nothing is stored. */
export function bulkRehearsal({ batch: { total, duplicates, content }, longest }: BulkOrder): object {
  return {
    status: 'success',
    dry_run: true,
    total,
    credits_used: 0,
    credits_required: total * CREDITS_PER_MESSAGE,
    segments: longest.segments,
    encoding: longest.encoding,
    template_id: content.dltId ?? null,
    ...(duplicates === undefined ? {} : { duplicates }),
  };
}

/** The fields of the request; undefined where there is a problem. */
interface Fields {
  readonly recipients: Recipients | undefined;
  readonly templateId: string | undefined;
  readonly params: readonly string[] | undefined;
  /** Of a plain text. */
  readonly content: BulkContent | undefined;
  readonly sender: string | undefined;
  readonly route: Route | undefined;
  readonly reference: string | undefined;
  readonly dedupe: boolean;
  readonly dryRun: boolean;
}

async function parseFields(
  body: JsonObject,
  rules: NumberRules,
  maxSegments: number,
  problems: FieldProblems,
): Promise<Fields> {
  const recipients = await parseRecipients(body, rules, problems);
  const templateId = optionalString(body, 'template_id', problems);
  const params = Object.hasOwn(body, 'params') ? parseParams(body.params, 'params', problems) : undefined;
  const named = Object.hasOwn(body, 'template_id');
  if (named && Object.hasOwn(body, 'message')) {
    problems.add('message', 'conflict', 'Give `message` or `template_id`, not both.');
  }
  if (!named && Object.hasOwn(body, 'params')) {
    problems.add('params', 'conflict', '`params` fill the slots of a template: give its `template_id`.');
  }
  if (!named && recipients !== undefined && hasParams(recipients.entries)) {
    problems.add('recipients', 'conflict', '`params` fill the slots of a template: give its `template_id`.');
  }
  const message = named ? undefined : parseMessage(body, maxSegments, problems);
  const sender = parseSender(body, problems);
  const route = parseRoute(body, problems);
  const priority = parsePriority(body, route, problems);
  // Spec gap: ten thousand messages in the urgent lane would stand before everybody's one-time passwords.
  if (priority === 'otp') problems.add('priority', 'invalid_value', 'A batch cannot be "otp": send those one by one.');
  const reference = parseReference(body, problems);
  const dedupe = optionalBoolean(body, 'dedupe', problems);
  const dryRun = optionalBoolean(body, 'dry_run', problems);
  const content = message === undefined ? undefined : plainContent(message.text, message.plan);
  return { recipients, templateId, params, content, sender, route, reference, dedupe, dryRun };
}

function plainContent(text: string, { encoding, segments }: Pick<BulkContent, 'encoding' | 'segments'>): BulkContent {
  return { content: { kind: 'text', text, encoding, segments }, encoding, segments };
}
