import type { Db } from 'mongodb';
import { isOptedIn } from '../../../shared/chat-opt-ins/store.ts';
import type { ChatTemplateDocument } from '../../../shared/chat-templates/chat-template.ts';
import { findChatTemplate, languagesOf } from '../../../shared/chat-templates/store.ts';
import type { ChatContent } from '../../../shared/messages/chat-message.ts';
import { defined } from '../../../shared/runtime/defined.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { list, otherwise, required } from '../../fields/field.ts';
import type { UrlCheck } from '../../fields/public-url.ts';
import { type ReadRequest, readRequest, request } from '../../fields/request.ts';
import { isObject } from '../../http/context.ts';
import { fieldRefusal } from '../../http/fields.ts';
import { PROBLEMS } from '../../http/problem.ts';
import type { Refused } from '../../idempotency/action.ts';
import { EXTENSIONS, text, to } from './fields.ts';
import { checkValues, type Entry, fillTemplate } from './fill-template.ts';
import type { ChatOrder, ChatRequest, ChatSend } from './send.ts';
import { checkButtons, checkHeader, TEMPLATE_EXTENSIONS } from './template-fields.ts';
import { checkMedia, checkMediaHost, mediaOf } from './template-media.ts';
import { checkCount, PARAMS_MAX, wantedParams } from './template-positions.ts';

/**
 * Limits: the Graph API takes names of up to 512 characters, language codes are far shorter than 32, and an address has
 * at most 2,048 characters. What a text may have depends on its place in the template (template-values.ts).
 */
export const SEND_TEMPLATE = request({
  to,
  template: required(text({ description: 'Name of an approved template.', maxLength: 512 })),
  language: required(
    text({ description: 'Its language code, as `GET /v2/chatapp/templates` shows it.', maxLength: 32 }),
  ),
  params: otherwise(
    list(text({ description: 'A value.', maxLength: 2_048 }), {
      description:
        'Values for its variables, in the order in which they stand in it: header (for an image, video or document the https address of the file), body, buttons (url suffixes, codes to copy). A one-time password is given once. Leave it out if there are none.',
      maxItems: PARAMS_MAX,
    }),
    () => [],
  ),
  ...TEMPLATE_EXTENSIONS,
  ...EXTENSIONS,
});

type ReadTemplateSend = ReadRequest<(typeof SEND_TEMPLATE)['fields']>;

/**
 * POST /v2/chatapp/send: an approved template, at any time. A business can begin a conversation only with a template.
 */
export function createSendTemplate(db: Db, urlCheck: UrlCheck): ChatSend {
  return {
    name: 'chatapp-send',
    async order(asked) {
      const { account, body, context } = asked;
      const read = await readRequest(SEND_TEMPLATE, body, context);
      const { to: recipient, template: name, language } = read.given;
      if (name === undefined || language === undefined) return { read, content: undefined };
      const template = await findChatTemplate(db, account, name, language);
      if (template === undefined) {
        return { read, content: undefined, refused: await notFound(db, account, name, language) };
      }
      const unusable = refusedTemplate(template);
      if (unusable?.problem[0] === 'template_not_supported') return { read, content: undefined, refused: unusable };
      const order = orderOf(template, asked, read, urlCheck);
      const refused = unusable ?? (await refusedRecipient(db, asked, recipient));
      return refused === undefined ? order : { ...order, refused };
    },
    result: ({ _id, conversation }) => ({ status: 'success', message_id: _id, conversation_id: conversation }),
  };
}

/** Checks the values against the template, then fills the template. */
function orderOf(
  template: ChatTemplateDocument,
  { account, body }: ChatRequest,
  read: ReadTemplateSend,
  urlCheck: UrlCheck,
): ChatOrder {
  const { given, problems } = read;
  const { components, name, language } = template;
  const { params, header, buttons } = given;
  const wanted = wantedParams(template, isObject(body.header) && Object.hasOwn(body.header, 'url'));
  const counted = checkCount(body.params, wanted, components, problems);
  if (!Object.hasOwn(body, 'header') || header !== undefined) checkHeader(header, components, problems);
  checkButtons(buttons, components, problems);
  if (params === undefined || !counted) return { read, content: undefined };
  const entries = wanted.map((param, i): Entry => ({ param, value: params[i] ?? '', field: `params[${i}]` }));
  checkValues(entries, components, problems);
  const media = mediaOf(account, entries, components, header);
  if (media !== undefined) checkMedia(media, urlCheck, problems);
  if (problems.count > 0) return { read, content: undefined };
  const filled = fillTemplate(entries, components, {
    ...defined({ header, buttons }),
  });
  const content: ChatContent = {
    kind: 'template',
    name,
    language,
    params,
    ...defined({ filled }),
  };
  const askNetwork = media === undefined ? undefined : () => checkMediaHost(media, urlCheck, problems);
  return { read, content, ...defined({ askNetwork }) };
}

async function notFound(db: Db, account: AccountId, name: string, language: string): Promise<Refused> {
  const languages = await languagesOf(db, account, name);
  const see =
    languages.length === 0 ? 'GET /v2/chatapp/templates lists those it has.' : `It has it in ${languages.join(', ')}.`;
  const field = languages.length === 0 ? 'template' : 'language';
  const detail = `The account has no template "${name}" in the language "${language}". ${see}`;
  return { kind: 'refused', problem: fieldRefusal('template_not_found', field, detail) };
}

function refusedTemplate({ name, status, unsendable }: ChatTemplateDocument): Refused | undefined {
  if (status !== 'approved') {
    const detail = `The template "${name}" is ${status}, not approved. ${PROBLEMS.template_not_approved.advice}`;
    return { kind: 'refused', problem: fieldRefusal('template_not_approved', 'template', detail) };
  }
  if (unsendable === undefined) return undefined;
  const detail = `The template "${name}" has ${unsendable}, which cannot be sent. Use a template without it.`;
  return { kind: 'refused', problem: fieldRefusal('template_not_supported', 'template', detail) };
}

/** Read from the store each time: a customer who withdrew consent must not get another template. */
async function refusedRecipient(
  db: Db,
  { account, provider }: ChatRequest,
  to: string | undefined,
): Promise<Refused | undefined> {
  if (provider?.optIn !== 'list' || to === undefined || (await isOptedIn(db, account, to))) return undefined;
  return { kind: 'refused', problem: fieldRefusal('recipient_not_opted_in', 'to') };
}
