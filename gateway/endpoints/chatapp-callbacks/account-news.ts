import type { VolumeTier } from '../../../shared/carriers/providers/provider.ts';
import type { TemplateItem } from '../../../shared/messages/chat-inbox.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { JsonObject } from '../../http/context.ts';
import { beginning } from '../../http/fields/field.ts';
import { list, object, string } from './loose-json.ts';

/** Callback fields about the business account and its numbers (WhatsApp Business Platform, webhooks reference). */
export const ACCOUNT_FIELDS: ReadonlySet<string> = new Set([
  'account_update',
  'account_alerts',
  'account_review_update',
  'phone_number_quality_update',
  'business_capability_update',
]);

const WORD_MAX = 200;
const NUMBER_MAX = 15;

/** News from the provider for operators, without texts or numbers of customers. */
export interface Notice {
  /** The callback's field; `messages` for an error that concerns no single message. */
  readonly field: string;
  /** `DISABLED_UPDATE`, `FLAGGED`, `REJECTED`. */
  readonly kind?: string;
  /** Details: `SCHEDULE_FOR_DISABLE`, `TIER_10K`. */
  readonly detail?: string;
  /** The business account's number, in digits. The log masks it. */
  readonly number?: string;
  readonly code?: number;
  readonly title?: string;
  readonly tier?: Omit<VolumeTier, 'at'>;
}

export function readNotice(field: string, value: JsonObject): Notice {
  // Some editions of the documentation show an alert's members without `alert_info`.
  const alert = { ...value, ...object(value.alert_info) };
  const kind = firstWord(value.event, value.decision, alert.alert_type);
  const tier = tierOf(object(value.volume_tier_info));
  const detail = firstWord(
    tier && `${tier.category} ${tier.region} ${tier.tier}`,
    object(value.ban_info).waba_ban_state,
    object(value.violation_info).violation_type,
    restrictions(value),
    alert.alert_severity,
    value.max_daily_conversations_per_business,
    value.max_daily_conversation_per_phone,
    value.current_limit,
  );
  const number = string(value.display_phone_number).replaceAll(/\D/g, '').slice(0, NUMBER_MAX);
  return {
    field,
    ...defined({ kind, detail, tier }),
    ...(number === '' ? {} : { number }),
  };
}

/** An error of the system, the app or the account ("Errors messages webhooks reference"). Pure. */
export function readErrorNotice(error: JsonObject): Notice {
  const { code } = error;
  const title = firstWord(error.title);
  return {
    field: 'messages',
    ...(typeof code === 'number' ? { code } : {}),
    ...defined({ title }),
  };
}

/** `phone number quality update: FLAGGED, TIER_10K`. */
export function noticeWords({ field, kind, detail, code, title }: Notice): string {
  const more = [kind, detail, code === undefined ? undefined : String(code), title].filter(
    (word) => word !== undefined,
  );
  const what = field === 'messages' ? 'error' : field.replaceAll('_', ' ');
  return more.length === 0 ? what : `${what}: ${more.join(', ')}`;
}

/** For `VOLUME_BASED_PRICING_TIER_UPDATE`. */
function tierOf(info: JsonObject): Notice['tier'] {
  const [category, region] = [firstWord(info.pricing_category), firstWord(info.region)];
  const [tier, month] = [firstWord(info.tier), firstWord(info.effective_month)];
  if (category === undefined || region === undefined || tier === undefined) return undefined;
  return { category, region, tier, ...defined({ month }) };
}

/** `RESTRICTED_BIZ_INITIATED_MESSAGING RESTRICTED_ADD_PHONE_NUMBER_ACTION`. Three kinds exist. */
function restrictions({ restriction_info: listed }: JsonObject): string {
  const types = list(listed).slice(0, 3);
  return types.map((restriction) => string(object(restriction).restriction_type)).join(' ');
}

function firstWord(...values: readonly unknown[]): string | undefined {
  const words = values.map((value) => (typeof value === 'number' ? String(value) : value));
  return words.find((word): word is string => typeof word === 'string' && word !== '' && word.length <= WORD_MAX);
}

/** Callback fields about templates (WhatsApp Business Platform, webhooks reference). */
export const TEMPLATE_FIELDS: ReadonlySet<string> = new Set([
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
]);

const NAME_MAX = 512;
const STATUS_WORD_MAX = 64;
const REASON_MAX = 500;
/** At risk, or closed to edits: the status stays. */
const NO_STATUS: readonly string[] = ['FLAGGED', 'LOCKED'];
/** The earlier status returns; only the provider's list tells it. */
const BACK: readonly string[] = ['REINSTATED', 'UNARCHIVED'];

/** How far the provider's clock may be ahead of ours. A later time would make every following change look old. */
const AHEAD_MAX_MS = 300_000;

/**
 * A change of a template. `entry` has the id of the business account and the time in seconds since 1970 (Graph API,
 * "Webhooks, getting started"). Undefined when no template is named. Pure.
 */
export function readTemplateChange(
  { id: business, time }: JsonObject,
  value: JsonObject,
  now: Date,
): TemplateItem | undefined {
  if (typeof business !== 'string') return undefined;
  const { message_template_name: name, message_template_language: language } = value;
  if (typeof name !== 'string' || name === '' || name.length > NAME_MAX) return undefined;
  if (typeof language !== 'string' || language === '' || language.length > STATUS_WORD_MAX) return undefined;
  const event = word(value.event);
  const changes = event !== undefined && !NO_STATUS.includes(event);
  const status = changes && !BACK.includes(event) ? event.toLowerCase() : undefined;
  const toldAt = changes ? timeOf(time, now) : undefined;
  // Some editions of the documentation have the quality under the status field.
  const quality = word(value.new_quality_score)?.toLowerCase();
  // Without `previous_category` the change of category is only announced.
  const category = value.previous_category === undefined ? undefined : word(value.new_category)?.toLowerCase();
  const reason = status === undefined ? undefined : reasonOf(value);
  return {
    kind: 'template',
    business,
    name,
    // Callbacks may write `en-US`, lists write `en_US`.
    language: language.replace('-', '_'),
    ...defined({ status, toldAt, reason, quality, category }),
  };
}

function timeOf(time: unknown, now: Date): Date | undefined {
  if (typeof time !== 'number' || !Number.isInteger(time) || time <= 0) return undefined;
  return time * 1000 > now.getTime() + AHEAD_MAX_MS ? undefined : new Date(time * 1000);
}

/** `INVALID_FORMAT: Your template has parameters placed next to each other. Separate them.` */
function reasonOf(value: JsonObject): string | undefined {
  const info = object(value.rejection_info);
  const other = object(value.other_info);
  const code = word(value.reason);
  const words = [info.reason, info.recommendation, other.title, other.description]
    .filter((text): text is string => typeof text === 'string' && text !== '')
    .join(' ');
  const known = code === undefined || code === 'NONE' ? [] : [code];
  return beginning([...known, ...(words === '' ? [] : [words])].join(': '), REASON_MAX) || undefined;
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= STATUS_WORD_MAX ? value : undefined;
}
