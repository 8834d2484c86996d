import { type BatchDocument, chunksOf, ENTRIES_PER_CHUNK } from '../../shared/batches/batch.ts';
import { findPaidBatch } from '../../shared/batches/find-paid.ts';
import { insertUnpaid } from '../../shared/batches/store.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/credits/refund.ts';
import { PAY_WITHIN_MS } from '../../shared/idempotency/key-claim.ts';
import { wouldRefuse } from '../../shared/messages/debit.ts';
import type { Route } from '../../shared/messages/message.ts';
import { laneOf, pathOf } from '../../shared/messages/routing.ts';
import { isoDate } from '../../shared/runtime/clock.ts';
import { type BatchId, newId } from '../../shared/runtime/ids.ts';
import type { ApprovedTemplates } from '../../shared/templates/approved-templates.ts';
import type { IndexedTemplate } from '../../shared/templates/template-index.ts';
import type { GatewayDeps } from '../deps.ts';
import { bodyOf, type Caller, callerOf, type JsonObject } from '../http/context.ts';
import { FieldProblems, invalidRequest, optionalBoolean, optionalString, refuseUnknown } from '../http/fields.ts';
import type { Action, Verdict } from '../http/idempotency.ts';
import { type Approval, approveText, findApproved, templateIds } from './approved-text.ts';
import { type BulkContent, hasParams, planTemplate } from './bulk-content.ts';
import {
  parseMessage,
  parsePriority,
  parseReference,
  parseRoute,
  parseSender,
  parseValidUntil,
} from './message-fields.ts';
import { parseParams, parseRecipients, type Recipients, withoutDuplicates } from './recipients.ts';
import { refusal } from './refusal.ts';
import { createMaySendAs } from './registered-senders.ts';

const FIELDS = [
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

/**
 * POST /v2/send-bulk: one message to each of up to 10,000 recipients. Answered when the account has paid for the batch, which
 * is stored by then; a worker makes messages of it. Everything that goes over the entries does so in slices.
 */
export function createSendBulk(deps: GatewayDeps & { readonly templates: ApprovedTemplates }): Action<BatchId> {
  const { batchAccepter, clock, config, db, templates } = deps;
  const maySendAs = createMaySendAs(deps);

  return {
    name: 'send-bulk',
    newId: () => newId('bat', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const { account } = callerOf(res);
      const problems = new FieldProblems();
      const body = bodyOf(res);
      const order = await parseOrder(body, problems);
      const template = order.templateId === undefined ? undefined : await findTemplate(account, order);
      const content = template === undefined ? order.content : await contentOf(order, template, problems);
      if (problems.count > 0) return { kind: 'refused', problem: invalidRequest(problems) };
      const { recipients, sender, route, dedupe, dryRun, reference, validUntil } = order;
      if (recipients === undefined || sender === undefined || route === undefined || validUntil === undefined) {
        throw new Error('a field is missing without a problem');
      }
      if (!(await maySendAs(account, sender, route))) {
        const detail = `"${sender}" is not registered and approved for ${route} messages of this account.`;
        return { kind: 'refused', problem: ['sender_not_allowed', { detail }] };
      }
      if (order.templateId !== undefined && template === undefined) return refused('template_not_found');
      if (content === undefined) throw new Error('there is no content without a problem');
      const approval = await approve(account, sender, route, content, template);
      if (approval.kind === 'refused') return approval;
      const { template: dltId, entityId } = approval.ids;

      const entries = dedupe ? await withoutDuplicates(recipients.entries) : recipients.entries;
      const duplicates = dedupe ? { duplicates: recipients.entries.length - entries.length } : {};
      const total = entries.length;
      // Asked before anything is stored: who has no credits shall not fill the disk.
      const broke = await wouldRefuse(db, account._id, total * CREDITS_PER_MESSAGE, isoDate(clock.now()));
      if (broke !== undefined) return { kind: 'refused', problem: refusal(broke, id) };
      if (dryRun) return { kind: 'rehearsed', body: { ...dryRunResult(total, content, dltId), ...duplicates } };

      res.locals.batchId = id;
      const batch: BatchDocument = {
        _id: id,
        account: account._id,
        state: 'unpaid',
        open: true,
        total,
        ...duplicates,
        perChunk: ENTRIES_PER_CHUNK,
        sender,
        route,
        path: pathOf(route),
        // Behind single messages, whoever sends them.
        lane: laneOf(route, 'low'),
        ...(reference === undefined ? {} : { reference }),
        validUntil,
        content: dltId === undefined ? content.content : { ...content.content, dltId },
        ...(entityId === undefined ? {} : { entityId }),
        done: 0,
        reserved: 0,
      };
      await insertUnpaid(db, batch, chunksOf(id, entries));
      const latest = payBy ?? new Date(clock.now().getTime() + PAY_WITHIN_MS);
      const outcome = await batchAccepter.acceptBatch(account._id, { id, total }, latest);
      if (outcome.kind === 'accepted') return { kind: 'accepted', body: bulkResult(batch) };
      return { kind: outcome.kind === 'outcome_unknown' ? 'unknown' : 'refused', problem: refusal(outcome, id) };
    },
    async recover(account, id) {
      const batch = await findPaidBatch(db, account, id);
      return batch === undefined ? undefined : bulkResult(batch);
    },
  };

  async function parseOrder(body: JsonObject, problems: FieldProblems): Promise<Order> {
    const recipients = await parseRecipients(body, problems);
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
    const message = named ? undefined : parseMessage(body, config.maxSegments, problems);
    const sender = parseSender(body, problems);
    const route = parseRoute(body, problems);
    const priority = parsePriority(body, route, problems);
    // Spec gap: ten thousand messages in the urgent lane would stand before everybody's one-time passwords.
    if (priority === 'otp')
      problems.add('priority', 'invalid_value', 'A batch cannot be "otp": send those one by one.');
    const reference = parseReference(body, problems);
    const validUntil = parseValidUntil(body, clock.now(), config.validityHours, problems);
    const dedupe = optionalBoolean(body, 'dedupe', problems);
    const dryRun = optionalBoolean(body, 'dry_run', problems);
    refuseUnknown(body, FIELDS, problems);
    const content = message === undefined ? undefined : plainContent(message.text, message.plan);
    return { recipients, templateId, params, content, sender, route, reference, validUntil, dedupe, dryRun };
  }

  /** Looked for only when what names it is there. */
  async function findTemplate(account: Caller['account'], { templateId, sender, route }: Order) {
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
    if (template !== undefined) return { kind: 'approved', ids: templateIds(account, template) };
    if (content.kind !== 'text') throw new Error('params are rendered without a template');
    return approveText(templates, account, sender, route, content.text);
  }

  async function contentOf(
    { recipients, params }: Order,
    template: IndexedTemplate,
    problems: FieldProblems,
  ): Promise<BulkContent | undefined> {
    if (recipients === undefined) return undefined;
    return planTemplate({ template, recipients, params, maxSegments: config.maxSegments }, problems);
  }
}

/** The fields of the request; undefined where there is a problem. */
interface Order {
  readonly recipients: Recipients | undefined;
  readonly templateId: string | undefined;
  readonly params: readonly string[] | undefined;
  /** Of a plain text. */
  readonly content: BulkContent | undefined;
  readonly sender: string | undefined;
  readonly route: Route | undefined;
  readonly reference: string | undefined;
  readonly validUntil: Date | undefined;
  readonly dedupe: boolean;
  readonly dryRun: boolean;
}

function plainContent(text: string, { encoding, segments }: Pick<BulkContent, 'encoding' | 'segments'>): BulkContent {
  return { content: { kind: 'text', text, encoding, segments }, encoding, segments };
}

function refused(slug: 'template_not_found'): Verdict {
  return { kind: 'refused', problem: [slug, {}] };
}

/** "Bulk SMS request / result". */
function bulkResult({ _id, total, duplicates }: BatchDocument): object {
  return {
    status: 'success',
    batch_id: _id,
    total,
    credits_used: total * CREDITS_PER_MESSAGE,
    ...(duplicates === undefined ? {} : { duplicates }),
  };
}

/** What the real thing would take; `segments` and `encoding` of the longest text. Nothing has an id: nothing is stored. */
function dryRunResult(total: number, { encoding, segments }: BulkContent, dltId: string | undefined): object {
  return {
    status: 'success',
    dry_run: true,
    total,
    credits_used: 0,
    credits_required: total * CREDITS_PER_MESSAGE,
    segments,
    encoding,
    template_id: dltId ?? null,
  };
}
