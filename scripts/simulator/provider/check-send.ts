import { checkTemplate } from './check-template.ts';
import { filled, type Json, list, object } from './json.ts';
import { ERRORS, type GraphError } from './magic-customers.ts';
import type { Template } from './templates.ts';
import { USER_ID } from './wa-id.ts';

/** A send that was read, or the error that refuses it. */
export type CheckedSend =
  | { readonly ok: true; readonly to: string; readonly type: string; readonly freeForm: boolean }
  | { readonly ok: false; readonly to: string; readonly type: string; readonly error: GraphError };

const MEDIA = ['image', 'video', 'audio', 'document', 'sticker'];
const NO_CAPTION = ['audio', 'sticker'];
const TEXT_MAX = 4_096;
const BODY_MAX = 1_024;
const CAPTION_MAX = 1_024;
const TITLE_MAX = 20;
const BUTTON_ID_MAX = 256;
const BUTTONS_MAX = 3;

/**
 * Reads `POST /{phone_number_id}/messages` as the Cloud API's documentation describes it. It is strict, because its purpose is to
 * test a client.
 */
export function checkSend(body: Json, templates: readonly Template[]): CheckedSend {
  const userId = body.to === undefined && typeof body.recipient === 'string' ? body.recipient : undefined;
  const given = typeof body.to === 'string' ? body.to : '';
  const to = userId ?? given.replace(/^\+/, '');
  const type = typeof body.type === 'string' ? body.type : 'text';
  const refused = (error: GraphError, details: string): CheckedSend => ({
    ok: false,
    to,
    type,
    error: { ...error, details },
  });
  if (body.messaging_product !== 'whatsapp') return refused(ERRORS.parameter, 'messaging_product must be whatsapp');
  if (userId !== undefined && !USER_ID.test(userId)) return refused(ERRORS.parameter, 'recipient is not a user id');
  if (userId === undefined && !/^[1-9]\d{6,14}$/.test(to)) return refused(ERRORS.parameter, 'to is not a phone number');
  // The Cloud API takes it, prepends the business's country code, and the message goes to somebody else.
  if (to === given) return refused(ERRORS.parameter, 'to must begin with a plus sign and the country code');
  const opaque = body.biz_opaque_callback_data;
  if (opaque !== undefined && (typeof opaque !== 'string' || opaque.length > 512)) {
    return refused(ERRORS.parameter, 'biz_opaque_callback_data must be at most 512 characters');
  }
  if (body.recipient_type !== undefined && body.recipient_type !== 'individual') {
    return refused(ERRORS.parameter, 'recipient_type must be individual');
  }
  const problem = checkType(type, body, templates);
  if (problem !== undefined) return { ok: false, to, type, error: problem };
  return { ok: true, to, type, freeForm: type !== 'template' };
}

function checkType(type: string, body: Json, templates: readonly Template[]): GraphError | undefined {
  if (type === 'text') return checkText(object(body.text));
  if (type === 'template') return checkTemplate(object(body.template), templates);
  if (type === 'interactive') return checkButtons(object(body.interactive));
  if (MEDIA.includes(type)) return checkMedia(type, object(body[type]));
  return { ...ERRORS.parameter, details: `type ${type} is not known` };
}

function checkText(text: Json | undefined): GraphError | undefined {
  if (text === undefined || !filled(text.body)) return { ...ERRORS.missing, details: 'text.body' };
  return text.body.length > TEXT_MAX ? { ...ERRORS.value, details: 'text.body is too long' } : undefined;
}

function checkButtons(interactive: Json | undefined): GraphError | undefined {
  if (interactive?.type !== 'button') return { ...ERRORS.parameter, details: 'interactive.type must be button' };
  const text = object(interactive.body)?.text;
  if (!filled(text) || text.length > BODY_MAX) return { ...ERRORS.value, details: 'interactive.body.text' };
  const buttons = list(object(interactive.action)?.buttons);
  if (buttons.length < 1 || buttons.length > BUTTONS_MAX) return { ...ERRORS.value, details: '1 to 3 buttons' };
  const replies = buttons.map((button) => (button.type === 'reply' ? object(button.reply) : undefined));
  const titles = new Set<unknown>();
  for (const reply of replies) {
    const { id, title } = reply ?? {};
    if (!filled(id) || id.length > BUTTON_ID_MAX || id !== id.trim()) return { ...ERRORS.value, details: 'button id' };
    if (!filled(title) || [...title].length > TITLE_MAX) return { ...ERRORS.value, details: 'button title' };
    titles.add(title);
  }
  return titles.size < buttons.length ? { ...ERRORS.value, details: 'button titles must differ' } : undefined;
}

function checkMedia(type: string, media: Json | undefined): GraphError | undefined {
  const { link, id, caption } = media ?? {};
  if ((link === undefined) === (id === undefined))
    return { ...ERRORS.parameter, details: 'exactly one of link and id' };
  if (link !== undefined && (typeof link !== 'string' || !/^https?:\/\//.test(link))) {
    return { ...ERRORS.value, details: 'link must be an address' };
  }
  if (caption === undefined) return undefined;
  if (NO_CAPTION.includes(type)) return { ...ERRORS.parameter, details: `${type} takes no caption` };
  if (typeof caption !== 'string' || caption.length > CAPTION_MAX) return { ...ERRORS.value, details: 'caption' };
  return undefined;
}
