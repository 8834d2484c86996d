import type { InboundItem, StatusItem } from '../../../shared/messages/chat-inbox-item.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { JsonObject } from '../../http/context.ts';
import { beginning } from '../../http/fields/field.ts';
import { list, object, storable, string } from './loose-json.ts';

/** The part of a text that is kept from a message that is too large. The Cloud API allows a text 4,096 characters. */
const CUT_BODY = 16_384;
/** The limit for an error's title and details, which are sentences. They are copied into the message and its events. */
const ERROR_TEXT_MAX = 1_024;

/** Ids of groups have some 60 characters (WhatsApp Cloud API, "Group messages"). */
const GROUP_ID_MAX = 512;

/**
 * The specification's `body` is what a person would read of the message. Everything else goes into `more` unchanged.
 * If the message is too large (`whole` is false), the result has only the beginning of `body`, and the group that it
 * was written in: an answer to it does not belong to its author alone.
 */
export function contentOf(type: string, message: JsonObject, whole: boolean): Pick<InboundItem, 'body' | 'more'> {
  if (!whole) {
    const group = string(message.group_id).slice(0, GROUP_ID_MAX);
    const cut = beginning(textOf(type, object(message[type])), CUT_BODY);
    return group === '' ? { body: cut } : { body: cut, more: { group_id: group } };
  }
  const { id: _id, from: _from, timestamp: _timestamp, type: _type, ...rest } = message;
  const body = textOf(type, object(rest[type]));
  const { text: _, ...others } = rest;
  const more = storable(type === 'text' ? others : rest);
  return Object.keys(more).length === 0 ? { body } : { body, more };
}

function textOf(type: string, own: JsonObject): string {
  switch (type) {
    case 'text':
    case 'system':
      return string(own.body);
    case 'button':
    case 'order':
      return string(own.text);
    case 'interactive':
      return (
        string(object(own.button_reply).title) ||
        string(object(own.list_reply).title) ||
        string(object(own.nfm_reply).body)
      );
    case 'reaction':
      return string(own.emoji);
    case 'location':
      return string(own.name) || string(own.address);
    default:
      return string(own.caption);
  }
}

/** The first error of a status. Undefined when it has none. */
export function errorOf({ errors }: JsonObject): StatusItem['error'] {
  if (list(errors).length === 0) return undefined;
  const error = object(list(errors)[0]);
  const details = string(object(error.error_data).details);
  const title = string(error.title) || string(error.message);
  return {
    code: Number.isSafeInteger(error.code) ? Number(error.code) : 0,
    title: beginning(title, ERROR_TEXT_MAX),
    ...(details !== '' && { details: beginning(details, ERROR_TEXT_MAX) }),
  };
}

/** The words of a price are names like `authentication_international`. */
const PRICING_WORD_MAX = 64;

/** What a status says about the price. Undefined when it says nothing. */
export function pricingOf({ pricing }: JsonObject): StatusItem['pricing'] {
  const { billable, pricing_model: model, type, category } = object(pricing);
  const read = defined({
    billable: typeof billable === 'boolean' ? billable : undefined,
    ...{ model: pricingWord(model), type: pricingWord(type), category: pricingWord(category) },
  });
  return Object.keys(read).length > 0 ? read : undefined;
}

function pricingWord(value: unknown): string | undefined {
  return string(value).slice(0, PRICING_WORD_MAX) || undefined;
}
