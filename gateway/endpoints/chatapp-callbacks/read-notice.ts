import type { VolumeTier } from '../../../shared/carriers/providers/provider.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { JsonObject } from '../../http/context.ts';
import { list, object, string } from './loose-json.ts';

/** The fields of a callback that tell of the business account and its numbers (WhatsApp Business Platform, webhooks reference). */
export const ACCOUNT_FIELDS: ReadonlySet<string> = new Set([
  'account_update',
  'account_alerts',
  'account_review_update',
  'phone_number_quality_update',
  'business_capability_update',
]);

/** The longest word, or title of an error. */
const WORD_MAX = 200;
const NUMBER_MAX = 15;

/** What the provider tells an operator. It has neither texts nor numbers of customers. */
export interface Notice {
  /** The field of the callback; `messages` for an error that concerns no single message. */
  readonly field: string;
  /** `DISABLED_UPDATE`, `FLAGGED`, `REJECTED`. */
  readonly kind?: string;
  /** What it says more: `SCHEDULE_FOR_DISABLE`, `TIER_10K`. */
  readonly detail?: string;
  /** Which number of the business account it is about, in digits. The log masks it. */
  readonly number?: string;
  /** Of an error. */
  readonly code?: number;
  readonly title?: string;
  /** A tier that was reached. */
  readonly tier?: Omit<VolumeTier, 'at'>;
}

/** Reads a change of one of `ACCOUNT_FIELDS`. Pure. */
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

/** An error beside the messages and statuses: of the system, the app or the account ("Errors messages webhooks reference"). Pure. */
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

/** Of `VOLUME_BASED_PRICING_TIER_UPDATE`. */
function tierOf(info: JsonObject): Notice['tier'] {
  const [category, region] = [firstWord(info.pricing_category), firstWord(info.region)];
  const [tier, month] = [firstWord(info.tier), firstWord(info.effective_month)];
  if (category === undefined || region === undefined || tier === undefined) return undefined;
  return { category, region, tier, ...defined({ month }) };
}

/** `RESTRICTED_BIZ_INITIATED_MESSAGING RESTRICTED_ADD_PHONE_NUMBER_ACTION`. There are three kinds of them. */
function restrictions({ restriction_info: listed }: JsonObject): string {
  const types = list(listed).slice(0, 3);
  return types.map((restriction) => string(object(restriction).restriction_type)).join(' ');
}

function firstWord(...values: readonly unknown[]): string | undefined {
  const words = values.map((value) => (typeof value === 'number' ? String(value) : value));
  return words.find((word): word is string => typeof word === 'string' && word !== '' && word.length <= WORD_MAX);
}
