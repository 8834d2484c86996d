import type { InboundItem, StatusItem } from '../../shared/chat-inbox/inbox-item.ts';
import type { JsonObject } from '../http/context.ts';
import { list, object, string } from './loose-json.ts';
import { storable } from './storable.ts';

/** Of a message that is too large to be kept whole; the Cloud API allows a text 4,096 characters. */
const CUT_BODY = 16_384;
/** Of an error's title and details: sentences. They go into the message and its events. */
const ERROR_TEXT_MAX = 1_024;

/**
 * The specification's `body`: what a person would read of it; all else, as it came, in `more`. When the message is too large
 * to be kept whole: the beginning of its `body`, and no `more`.
 */
export function contentOf(type: string, message: JsonObject, whole: boolean): Pick<InboundItem, 'body' | 'more'> {
  if (!whole) return { body: beginning(textOf(type, object(message[type])), CUT_BODY) };
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
      return string(own.text);
    case 'interactive':
      return string(object(own.button_reply).title) || string(object(own.list_reply).title);
    case 'reaction':
      return string(own.emoji);
    case 'location':
      return string(own.name) || string(own.address);
    default:
      return string(own.caption);
  }
}

/** What a status says of a failure: the first of its errors; undefined when it has none. */
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

/** Of a status that is not too large: what it says of money, as it came; undefined when that is nothing. */
export function billingOf({ conversation, pricing }: JsonObject): StatusItem['billing'] {
  const billing = storable({ conversation, pricing });
  return Object.keys(billing).length > 0 ? billing : undefined;
}

/** Up to `most` characters, and no half of one. */
function beginning(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
