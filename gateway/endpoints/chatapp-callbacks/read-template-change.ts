import type { TemplateItem } from '../../../shared/messages/chat-inbox-item.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { JsonObject } from '../../http/context.ts';
import { beginning } from '../../http/fields/field.ts';
import { object } from './loose-json.ts';

/** The fields of a callback that tell of templates (WhatsApp Business Platform, webhooks reference). */
export const TEMPLATE_FIELDS: ReadonlySet<string> = new Set([
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
]);

const NAME_MAX = 512;
const WORD_MAX = 64;
const REASON_MAX = 500;
/** At risk, or closed to edits: the status is what it was. */
const NO_STATUS: readonly string[] = ['FLAGGED', 'LOCKED'];
/** The status is what it was before; only the list tells it. */
const BACK: readonly string[] = ['REINSTATED', 'UNARCHIVED'];

/** How far the provider's clock may be ahead of ours. A time beyond it would make every later change look old. */
const AHEAD_MAX_MS = 300_000;

/**
 * What a change tells of a template. Its entry has the id of the business account and the time: seconds since 1970 (Graph API,
 * "Webhooks, getting started"). Undefined when it names none. Pure.
 */
export function readTemplateChange(
  { id: business, time }: JsonObject,
  value: JsonObject,
  now: Date,
): TemplateItem | undefined {
  if (typeof business !== 'string') return undefined;
  const { message_template_name: name, message_template_language: language } = value;
  if (typeof name !== 'string' || name === '' || name.length > NAME_MAX) return undefined;
  if (typeof language !== 'string' || language === '' || language.length > WORD_MAX) return undefined;
  const event = word(value.event);
  const changes = event !== undefined && !NO_STATUS.includes(event);
  const status = changes && !BACK.includes(event) ? event.toLowerCase() : undefined;
  const toldAt = changes ? timeOf(time, now) : undefined;
  // Some editions of the documentation show the quality under the field of the status.
  const quality = word(value.new_quality_score)?.toLowerCase();
  // Without `previous_category` the category will change, and has not yet.
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
  return typeof value === 'string' && value !== '' && value.length <= WORD_MAX ? value : undefined;
}
