import assert from 'node:assert/strict';
import { countryOf } from '../../../shared/carriers/routing/country.ts';
import type { Routable, RouteTable } from '../../../shared/carriers/routing/table.ts';
import {
  type BatchContent,
  type BatchDocument,
  type BatchEntry,
  ENTRIES_MAX,
  ENTRIES_PER_CHUNK,
} from '../../../shared/messages/batch.ts';
import type { Route } from '../../../shared/messages/document/message.ts';
import { laneOf, pathOf } from '../../../shared/messages/document/routing.ts';
import type { Encoding } from '../../../shared/messages/sms-plan.ts';
import { type PriceList, smsPrice } from '../../../shared/money/accounts/prices.ts';
import { keysOf } from '../../../shared/money/ledger/spending.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId, BatchId } from '../../../shared/platform/runtime/ids.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import { type Pattern, renderTemplate } from '../../../shared/templates/sms/pattern.ts';
import type { Gateway, Shown } from '../../api/endpoint.ts';
import { named, whole as wholeNumber } from '../../api/shapes.ts';
import type { Caller } from '../../http/context.ts';
import { type FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { boolean, Fault, longList, object, optional, required, string, withDefault } from '../../http/fields/field.ts';
import {
  dryRun,
  messageOrTemplate,
  messageText,
  NO_TEMPLATE,
  type PlannedText,
  params,
  paramsNeedTemplate,
  recipient,
  reference,
  renderText,
  route,
  sender,
  templateId,
} from '../../http/fields/message-fields.ts';
import { type ReadRequest, type Rule, whole } from '../../http/fields/request.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { beyondLimits } from '../limits/recipients.ts';
import { approvalsOf } from './approvals.ts';
import { ctaCheckOf, MissingCtas } from './ctas/check.ts';
import type { IndexedTemplate } from './matching/match.ts';
import { DRY_RUN, type Foreseen, type Held, noRoute, optedOutEntries, optedOutOf, placeOf } from './message-order.ts';
import type { NewBatch } from './paid-batch-store.ts';

const LENGTH = { minItems: 1, maxItems: ENTRIES_MAX };
const PRIORITIES = ['normal', 'low'] as const;

/** Fields of a bulk request, sent now or later. `valid_until` depends on that, so it belongs to the endpoint. */
export const BULK_FIELDS = {
  to: optional(
    longList(recipient('sms'), {
      description: 'Recipients. Each gets one message. Give `to` or `recipients`.',
      ...LENGTH,
    }),
  ),
  recipients: optional(
    longList(object({ to: required(recipient('sms')), params: optional(params) }), {
      description: 'Extension: recipients, each with `params` of its own if needed.',
      ...LENGTH,
    }),
  ),
  message: optional(messageText),
  sender: required(sender),
  route,
  template_id: templateId,
  params: optional(params),
  dedupe: withDefault(boolean('Extension: equal entries get one message and are charged once.'), false),
  skip_opted_out: withDefault(
    boolean('Extension: recipients who opted out are left out and not charged. Without it they refuse the request.'),
    false,
  ),
  // Spec gap: ten thousand messages in the urgent lane would delay everybody's one-time passwords.
  priority: withDefault(
    string(
      { description: 'Extension. The messages of a batch are always sent after single messages.', enum: PRIORITIES },
      (text) => {
        const otp = text === 'otp' ? ' Send one-time passwords one by one.' : '';
        const fault = new Fault('invalid_value', `It must be one of ${PRIORITIES.join(', ')}.${otp}`);
        return PRIORITIES.find((priority) => priority === text) ?? fault;
      },
    ),
    'normal',
  ),
  reference,
  dry_run: dryRun,
};

export const SKIPPED = wholeNumber(
  'Number of recipients who had opted out, with `skip_opted_out`. They cost nothing.',
  { minimum: 0 },
).optional();

export const BulkDryRun = named('BulkDryRun', 'The answer to `dry_run`.', {
  ...DRY_RUN,
  credits_required: DRY_RUN.credits_required.meta({ example: 2 }),
  total: wholeNumber(undefined, { minimum: 1, example: 2 }),
  duplicates: wholeNumber(undefined, { minimum: 0 }).optional(),
  skipped: SKIPPED,
});

type BulkFields = typeof BULK_FIELDS;

const ownParamsNeedTemplate: Rule<BulkFields> = ({ recipients = [] }, has, problems) => {
  if (has('template_id') || recipients.every(({ params: own }) => own === undefined)) return;
  problems.add('recipients', 'conflict', NO_TEMPLATE);
};

export const BULK_EITHER = [{ names: ['to', 'recipients'], surplus: 'recipients' }, messageOrTemplate] as const;
export const BULK_RULES: readonly Rule<BulkFields>[] = [paramsNeedTemplate, ownParamsNeedTemplate];

export interface BulkOrder {
  readonly kind: 'bulk';
  readonly entries: readonly BatchEntry[];
  readonly batch: Pick<
    BatchDocument,
    | 'total'
    | 'duplicates'
    | 'skipped'
    | 'sender'
    | 'route'
    | 'path'
    | 'lane'
    | 'reference'
    | 'content'
    | 'entityId'
    | 'keys'
    | 'credits'
    | 'prices'
  >;
  readonly longest: Pick<BulkContent, 'encoding' | 'segments'>;
  /** For an account that is only warned of them. */
  readonly missing: MissingCtas;
  readonly held: Held;
}

export async function orderBulk(
  gateway: Gateway,
  { account, caps }: Caller,
  read: ReadRequest<BulkFields>,
): Promise<BulkOrder | Refused> {
  const { config, db, routes } = gateway;
  const approvals = approvalsOf(gateway);
  const { given, problems } = read;
  const template = await approvals.findTemplate(account, given);
  const all = given.recipients ?? given.to?.map((to) => ({ to }));
  const content =
    template === undefined
      ? given.message && plainContent(given.message)
      : all && (await planTemplate(template, all, given, config.maxSegments, problems));
  if (problems.count > 0 || all === undefined) return { kind: 'refused', problem: invalidRequest(problems) };
  const { sender, route, dedupe, skip_opted_out: skip, reference } = whole(read);
  // A plain text is matched once for all recipients. A rendered text always matches its own template.
  const approval = await approvals.approve(account, { sender, route }, template ?? given.message?.text);
  if (approval.kind === 'refused') return approval;
  assert(content !== undefined, 'what was approved has a text');
  const { template: dltId, entityId } = approval.ids;
  const missing = await missingIn(gateway, account, approval.template?.pattern, all, content);
  const unregistered = account.ctaCheck === 'refuse' ? missing.refusal() : undefined;
  if (unregistered !== undefined) return unregistered;

  // A batch leaves after single messages of all accounts.
  const lane = laneOf(route, 'low', account.dlt);
  const list = given.recipients === undefined ? 'to' : 'recipients';
  const sending = { account: account._id, sender, route, lane };
  const recipients = all.map(({ to }) => to);
  const out = await optedOutOf(db, account, sending, recipients);
  const wanted = out.size === 0 ? all : all.filter(({ to }) => !out.has(to));
  if (wanted.length < all.length && !(skip && wanted.length > 0)) {
    return { kind: 'refused', problem: await optedOutEntries(all, out, list) };
  }
  const placeIn = placesOf(all, list);
  const beyond = await beyondLimits(
    account,
    wanted.map(({ to }) => to),
    (index) => placeIn(wanted[index]),
  );
  if (beyond !== undefined) return { kind: 'refused', problem: beyond };
  const table = await routes.table();
  const unrouted: string[] = [];
  await inSlices(all, ({ to }, index) => {
    if (out.has(to) || table.resolve({ ...sending, to }).kind === 'path') return;
    unrouted.push(placeOf(list, index));
  });
  if (unrouted.length > 0) return { kind: 'refused', problem: noRoute(unrouted) };

  const entries = dedupe ? await withoutDuplicates(wanted) : wanted;
  const batch = {
    total: entries.length,
    ...(dedupe ? { duplicates: wanted.length - entries.length } : {}),
    ...(skip ? { skipped: all.length - wanted.length } : {}),
    sender,
    route,
    path: pathOf(route),
    lane,
    ...defined({ reference }),
    content: dltId === undefined ? content.content : { ...content.content, dltId },
    ...defined({ entityId }),
    ...keysOf(caps),
    ...(await bulkPrice(account.prices, route, entries, content.segmentsOf)),
  };
  const held: Held = {
    lane,
    recipients: entries.map(({ to }) => to),
    placeOf: (index) => placeIn(entries[index]),
    daytimesOf: daytimesFor(account, table, sending, entries),
  };
  return { kind: 'bulk', entries, batch, longest: content, missing, held };
}

/** Unregistered links and numbers of all texts. A repeated text is looked at once. */
async function missingIn(
  gateway: Gateway,
  account: Caller['account'],
  pattern: Pattern | undefined,
  all: readonly BatchEntry[],
  { content, textOf }: BulkContent,
): Promise<MissingCtas> {
  const missing = new MissingCtas();
  const check = await ctaCheckOf(gateway, account, pattern);
  if (check === undefined) return missing;
  let isCommonSeen = false;
  await inSlices(all, (entry, index) => {
    const isOwn = content.kind === 'template' && entry.params !== undefined;
    if (!isOwn && isCommonSeen) return;
    isCommonSeen ||= !isOwn;
    const common = content.kind === 'text' && content.dltId === undefined ? 'message' : 'params';
    missing.add(isOwn ? `recipients[${index}].params` : common, check(textOf(entry)));
  });
  return missing;
}

/** The daytimes of an entry. Routes are asked again only if one of them has a daytime. */
function daytimesFor(
  { daytime }: Caller['account'],
  table: RouteTable,
  sending: Omit<Routable, 'to'>,
  entries: readonly BatchEntry[],
): Held['daytimesOf'] {
  const own = [daytime];
  if (table.routes.every((route) => route.daytime === undefined)) return () => own;
  return (index) => {
    const to = entries[index]?.to;
    const found = to === undefined ? undefined : table.resolve({ ...sending, to }).route;
    return [daytime, found?.daytime];
  };
}

/** The credits of all entries, with the price list by which the worker prices each. Nothing without a list. */
async function bulkPrice(
  prices: PriceList | undefined,
  route: Route,
  entries: readonly BatchEntry[],
  segmentsOf: BulkContent['segmentsOf'],
): Promise<Pick<BatchDocument, 'credits' | 'prices'>> {
  if (prices === undefined) return {};
  let credits = 0;
  await inSlices(entries, (entry) => {
    credits += smsPrice(prices, { route, segments: segmentsOf(entry), country: countryOf(entry.to) });
  });
  return { credits, prices };
}

/** Where entries stand in the request. Computed only for entries with a problem. */
function placesOf(all: readonly BatchEntry[], list: 'to' | 'recipients'): (entry: BatchEntry | undefined) => string {
  let places: ReadonlyMap<BatchEntry | undefined, number> | undefined;
  return (entry) => {
    places ??= new Map(all.map((one, index) => [one, index]));
    return placeOf(list, places.get(entry) ?? 0);
  };
}

/** Params must be equal too. */
async function withoutDuplicates(entries: readonly BatchEntry[]): Promise<readonly BatchEntry[]> {
  const seen = new Set<string>();
  const kept: BatchEntry[] = [];
  await inSlices(entries, (entry) => {
    const name = entry.params === undefined ? entry.to : JSON.stringify([entry.to, entry.params]);
    if (seen.has(name)) return;
    seen.add(name);
    kept.push(entry);
  });
  return kept;
}

export function newBatch(_id: BatchId, account: AccountId, order: BulkOrder, validUntil: Date): NewBatch {
  return { _id, account, ...order.batch, validUntil, perChunk: ENTRIES_PER_CHUNK, done: 0, reserved: 0 };
}

/** `segments` and `encoding` are of the longest text. No ids, because nothing is stored. */
export function bulkDryRun(
  { batch: { total, credits, duplicates, skipped, content }, longest }: BulkOrder,
  foreseen: Foreseen,
): Shown<typeof BulkDryRun> {
  return {
    status: 'success',
    dry_run: true,
    total,
    credits_used: 0,
    credits_required: credits ?? total,
    segments: longest.segments,
    encoding: longest.encoding,
    template_id: content.dltId ?? null,
    ...foreseen,
    ...defined({ duplicates, skipped }),
  };
}

interface BulkContent {
  readonly content: BatchContent;
  readonly encoding: Encoding;
  readonly segments: number;
  segmentsOf(entry: BatchEntry): number;
  textOf(entry: BatchEntry): string;
}

function plainContent({ text, plan: { encoding, segments } }: PlannedText): BulkContent {
  return {
    content: { kind: 'text', text, encoding, segments },
    encoding,
    segments,
    segmentsOf: () => segments,
    textOf: () => text,
  };
}

interface Given {
  /** Present if recipients can have their own params. */
  readonly recipients?: readonly BatchEntry[];
  readonly params?: readonly string[];
}

/**
 * Renders every text once to check it; the worker renders it again from the same pattern. Reports all params that do
 * not fit and texts that are too long; then undefined.
 */
async function planTemplate(
  { dltId, pattern }: Pick<IndexedTemplate, 'dltId' | 'pattern'>,
  entries: readonly BatchEntry[],
  given: Given,
  maxSegments: number,
  problems: FieldProblems,
): Promise<BulkContent | undefined> {
  const before = problems.count;
  const alike = entries.every(({ params }) => params === undefined);
  const withoutParams = entries.some(({ params }) => params === undefined);
  let shared: PlannedText | undefined;
  if (given.params === undefined && given.recipients !== undefined && pattern.slots.length > 0) {
    addMissingParams(entries, problems);
  } else if (given.params !== undefined || withoutParams) {
    shared = renderText(pattern, given.params ?? [], 'params', maxSegments, problems);
  }
  let { encoding, segments } = shared?.plan ?? { encoding: 'GSM7' as Encoding, segments: 0 };
  const own = new Map<BatchEntry, number>();
  const usual = shared?.plan.segments ?? 0;
  const segmentsOf = (entry: BatchEntry): number => own.get(entry) ?? usual;
  const textOf = ({ params = given.params ?? [] }: BatchEntry): string => {
    const rendered = renderTemplate(pattern, params);
    return rendered.kind === 'text' ? rendered.text : '';
  };
  await inSlices(entries, (entry, index) => {
    const { params } = entry;
    if (params === undefined) return;
    const planned = renderText(pattern, params, `recipients[${index}].params`, maxSegments, problems);
    if (planned?.plan.encoding === 'UCS2') encoding = 'UCS2';
    if (planned !== undefined) own.set(entry, planned.plan.segments);
    segments = Math.max(segments, planned?.plan.segments ?? 0);
  });
  if (problems.count > before) return undefined;
  if (alike && shared !== undefined) {
    return {
      content: { kind: 'text', text: shared.text, encoding, segments, dltId },
      encoding,
      segments,
      segmentsOf,
      textOf,
    };
  }
  return {
    content: { kind: 'template', dltId, pattern, params: given.params ?? [] },
    encoding,
    segments,
    segmentsOf,
    textOf,
  };
}

function addMissingParams(entries: readonly BatchEntry[], problems: FieldProblems): void {
  for (const [index, { params }] of entries.entries()) {
    if (params !== undefined) continue;
    problems.add(`recipients[${index}].params`, 'missing_field', 'Give it here, or for all recipients in `params`.');
  }
}
