import { checkTemplate } from './check-template.ts';
import { filled, type GraphError, type Json, list, object, surplus } from './http.ts';
import { ERRORS } from './magic-customers.ts';
import { USER_ID } from './persons.ts';
import type { Template } from './templates.ts';

export type CheckedSend =
  | { readonly ok: true; readonly to: string; readonly type: string; readonly freeForm: boolean }
  | { readonly ok: false; readonly to: string; readonly type: string; readonly error: GraphError };

const MEDIA = ['image', 'video', 'audio', 'document', 'sticker'];
const NO_CAPTION = ['audio', 'sticker'];
const TEXT_MAX = 4_096;
const CAPTION_MAX = 1_024;

/** Reads `POST /{phone_number_id}/messages` strictly as the Cloud API documents it, to test a client. */
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
  // The Cloud API accepts it, but prepends the business's country code, so another person gets the message.
  if (to === given) return refused(ERRORS.parameter, 'to must begin with a plus sign and the country code');
  const opaque = body.biz_opaque_callback_data;
  if (opaque !== undefined && (typeof opaque !== 'string' || opaque.length > 512)) {
    return refused(ERRORS.parameter, 'biz_opaque_callback_data must be at most 512 characters');
  }
  if (body.recipient_type !== undefined && body.recipient_type !== 'individual') {
    return refused(ERRORS.parameter, 'recipient_type must be individual');
  }
  if (body.context !== undefined && !filled(object(body.context)?.message_id)) {
    return refused(ERRORS.parameter, 'context.message_id must be the id of a message');
  }
  const name = object(body.template)?.name;
  const template = type === 'template' ? templates.find((one) => one.name === name) : undefined;
  if (userId !== undefined && template?.category === 'AUTHENTICATION')
    return refused(ERRORS.userId, 'recipient is a user id');
  const problem = checkType(type, body, templates);
  if (problem !== undefined) return { ok: false, to, type, error: problem };
  return { ok: true, to, type, freeForm: type !== 'template' };
}

function checkType(type: string, body: Json, templates: readonly Template[]): GraphError | undefined {
  if (type === 'text') return checkText(object(body.text));
  if (type === 'template') return checkTemplate(object(body.template), templates);
  if (type === 'interactive') return checkInteractive(object(body.interactive));
  if (type === 'location') return checkLocation(object(body.location));
  if (type === 'contacts') return checkContacts(body.contacts);
  if (type === 'reaction') return checkReaction(object(body.reaction));
  if (MEDIA.includes(type)) return checkMedia(type, object(body[type]));
  return { ...ERRORS.parameter, details: `type ${type} is not known` };
}

function checkText(text: Json | undefined): GraphError | undefined {
  if (text === undefined || !filled(text.body)) return { ...ERRORS.missing, details: 'text.body' };
  return text.body.length > TEXT_MAX ? { ...ERRORS.value, details: 'text.body is too long' } : undefined;
}

const COORDINATES = [
  ['latitude', 90],
  ['longitude', 180],
] as const;

function checkLocation(location: Json | undefined): GraphError | undefined {
  const given = location ?? {};
  for (const [name, most] of COORDINATES) {
    const value = given[name];
    if (value === undefined) return { ...ERRORS.missing, details: `location.${name}` };
    if (!/^-?\d{1,3}(\.\d+)?$/.test(String(value)) || Math.abs(Number(value)) > most) {
      return { ...ERRORS.value, details: `location.${name} must be degrees` };
    }
  }
  const odd = surplus(given, ['latitude', 'longitude', 'name', 'address']);
  return odd === undefined ? undefined : { ...ERRORS.parameter, details: `location: unexpected key "${odd}"` };
}

const CONTACT_MEMBERS = ['name', 'phones', 'emails', 'addresses', 'urls', 'org', 'birthday'];
const NAME_PARTS = ['first_name', 'last_name', 'middle_name', 'suffix', 'prefix'];

function checkContacts(given: unknown): GraphError | undefined {
  const contacts = list(given);
  if (contacts.length < 1) return { ...ERRORS.missing, details: 'contacts' };
  for (const contact of contacts) {
    const odd = surplus(contact, CONTACT_MEMBERS);
    if (odd !== undefined) return { ...ERRORS.parameter, details: `contacts: unexpected key "${odd}"` };
    const name = object(contact.name) ?? {};
    if (!filled(name.formatted_name) || !NAME_PARTS.some((part) => filled(name[part]))) {
      return { ...ERRORS.missing, details: 'contacts: name needs formatted_name and one part more' };
    }
  }
  return undefined;
}

/** An empty emoji removes the reaction. */
function checkReaction(reaction: Json | undefined): GraphError | undefined {
  const { message_id: message, emoji } = reaction ?? {};
  if (!filled(message) || !message.startsWith('wamid.')) return { ...ERRORS.value, details: 'reaction.message_id' };
  return typeof emoji === 'string' ? undefined : { ...ERRORS.missing, details: 'reaction.emoji' };
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

/** Required and optional parts besides the action, the action's name, and its other members. */
interface InteractiveShape {
  readonly needs: readonly string[];
  readonly may: readonly string[];
  readonly name?: string;
  readonly members: readonly string[];
}

const WITH_BODY = { needs: ['body'], may: ['header', 'footer'] } as const;
const INTERACTIVE: Readonly<Record<string, InteractiveShape>> = {
  button: { ...WITH_BODY, members: ['buttons'] },
  list: { ...WITH_BODY, members: ['button', 'sections'] },
  cta_url: { ...WITH_BODY, name: 'cta_url', members: ['parameters'] },
  flow: { ...WITH_BODY, name: 'flow', members: ['parameters'] },
  location_request_message: { needs: ['body'], may: [], name: 'send_location', members: [] },
  request_contact_info: { needs: ['body'], may: [], name: 'request_contact_info', members: [] },
  product: { needs: [], may: ['body', 'footer'], members: ['catalog_id', 'product_retailer_id'] },
  product_list: { needs: ['header', 'body'], may: ['footer'], members: ['catalog_id', 'sections'] },
  catalog_message: { needs: ['body'], may: ['footer'], name: 'catalog_message', members: ['parameters'] },
};
/** Types whose header may only be text. */
const TEXT_HEADERS: readonly unknown[] = ['list', 'product_list'];

/**
 * Reads `interactive` as the Cloud API's pages describe it, refusing anything else. Lengths and counts are not checked,
 * because Harkara's endpoint refuses those before.
 */
function checkInteractive(interactive: Json | undefined): GraphError | undefined {
  const type = interactive?.type;
  const shape = typeof type === 'string' && Object.hasOwn(INTERACTIVE, type) ? INTERACTIVE[type] : undefined;
  if (interactive === undefined || shape === undefined) {
    return { ...ERRORS.parameter, details: `interactive.type ${String(type)} is not known` };
  }
  const odd = surplus(interactive, ['type', 'action', ...shape.needs, ...shape.may]);
  if (odd !== undefined) return { ...ERRORS.parameter, details: `interactive: unexpected key "${odd}"` };
  const missing = shape.needs.find((part) => interactive[part] === undefined);
  if (missing !== undefined) return { ...ERRORS.missing, details: `interactive.${missing}` };
  const textless = ['body', 'footer'].find((part) => part in interactive && !filled(object(interactive[part])?.text));
  const problem =
    headerProblem(interactive) ??
    (textless === undefined ? undefined : `${textless}.text`) ??
    actionProblem(shape, object(interactive.action) ?? {});
  return problem === undefined ? undefined : { ...ERRORS.value, details: `interactive: ${problem}` };
}

function headerProblem({ type, header: given }: Json): string | undefined {
  if (given === undefined) return undefined;
  const header = object(given) ?? {};
  const { type: kind } = header;
  if (kind === 'text') return surplus(header, ['type', 'text']) ?? (filled(header.text) ? undefined : 'header.text');
  if (TEXT_HEADERS.includes(type) || (kind !== 'image' && kind !== 'video' && kind !== 'document'))
    return 'header.type';
  const file = object(header[kind]) ?? {};
  return /^https?:\/\//.test(String(file.link)) || filled(file.id) ? surplus(header, ['type', kind]) : `header.${kind}`;
}

function actionProblem({ name, members }: InteractiveShape, action: Json): string | undefined {
  if (action.name !== name) return 'action.name';
  // Only a catalogue's thumbnail is optional.
  const missing = name === 'catalog_message' ? undefined : members.find((member) => action[member] === undefined);
  return missing === undefined ? surplus(action, ['name', ...members]) : `action.${missing}`;
}
