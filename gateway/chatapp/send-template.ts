import type { Db } from 'mongodb';
import { isOptedIn } from '../../shared/chat-opt-ins/store.ts';
import type { ChatTemplateDocument } from '../../shared/chat-templates/chat-template.ts';
import { findChatTemplate, languagesOf } from '../../shared/chat-templates/store.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import type { JsonObject } from '../http/context.ts';
import { type FieldProblems, wrongType } from '../http/fields.ts';
import type { Refused } from '../idempotency/once.ts';
import type { ChatRequest, ChatSend } from './send.ts';
import { checkedText, requiredText } from './text-fields.ts';

/** Facts do not say; the Graph API takes no longer names, and no language code is near this. */
const NAME_MAX = 512;
const LANGUAGE_MAX = 32;
/** Of a body with 1,024 characters, filled. */
const PARAM_MAX = 1_024;
const PARAMS_MAX = 250;

/** POST /v2/chatapp/send: an approved template, at any time. The only message that a business may begin with. */
export function createSendTemplate(db: Db): ChatSend {
  return {
    name: 'chatapp-send',
    fields: ['template', 'language', 'params'],
    async read(request, problems) {
      const { account, body } = request;
      const name = requiredText(body, 'template', NAME_MAX, problems);
      const language = requiredText(body, 'language', LANGUAGE_MAX, problems);
      const params = parseParams(body, problems);
      if (name === undefined || language === undefined) return { content: undefined };
      const template = await findChatTemplate(db, account, name, language);
      if (template === undefined) return { content: undefined, refused: await notFound(db, account, name, language) };
      if (params === undefined) return { content: undefined };
      checkCount(params, template, problems);
      const refused = refusedTemplate(template) ?? (await refusedRecipient(db, request));
      const content = { kind: 'template', name, language, params } as const;
      return refused === undefined ? { content } : { content, refused };
    },
    result: ({ _id, conversation }) => ({ status: 'success', message_id: _id, conversation_id: conversation }),
  };
}

/** None given is an empty list; undefined when they are none, which is then among the problems. */
function parseParams(body: JsonObject, problems: FieldProblems): readonly string[] | undefined {
  if (!Object.hasOwn(body, 'params')) return [];
  const list = body.params;
  if (!Array.isArray(list)) {
    problems.add('params', 'wrong_type', `It must be an array of strings, not ${wrongType(list)}.`);
    return undefined;
  }
  if (list.length > PARAMS_MAX) {
    problems.add('params', 'wrong_count', `It has ${list.length} entries; no template takes more than ${PARAMS_MAX}.`);
    return undefined;
  }
  const params = list.map((param: unknown, index) => {
    const field = `params[${index}]`;
    if (typeof param === 'string') return checkedText(param, field, PARAM_MAX, problems);
    problems.add(field, 'wrong_type', `It must be a string, not ${wrongType(param)}.`);
    return undefined;
  });
  const good = params.filter((param) => param !== undefined);
  // A list with a bad entry has a right or a wrong length all the same: an empty place stands for it.
  return good.length === params.length ? good : params.map((param) => param ?? '');
}

function checkCount(params: readonly string[], { variables }: ChatTemplateDocument, problems: FieldProblems): void {
  if (params.length === variables) return;
  const wanted = variables === 0 ? 'takes no params' : `takes ${variables}, in order`;
  problems.add('params', 'wrong_count', `The template ${wanted}; ${params.length} are given.`);
}

async function notFound(db: Db, account: AccountId, name: string, language: string): Promise<Refused> {
  const languages = await languagesOf(db, account, name);
  const see = languages.length === 0 ? 'See GET /v2/chatapp/templates.' : `It has it in ${languages.join(', ')}.`;
  const detail = `The account has no template "${name}" in the language "${language}". ${see}`;
  return { kind: 'refused', problem: ['template_not_found', { detail }] };
}

function refusedTemplate({ name, status, unsendable }: ChatTemplateDocument): Refused | undefined {
  if (status !== 'approved') {
    const detail = `The template "${name}" is ${status}, not approved.`;
    return { kind: 'refused', problem: ['template_not_approved', { detail }] };
  }
  if (unsendable === undefined) return undefined;
  const detail = `The template "${name}" needs ${unsendable}, which \`params\` cannot give it.`;
  return { kind: 'refused', problem: ['template_not_supported', { detail }] };
}

/** Asked of the store each time: who has taken back the consent must not get another one. */
async function refusedRecipient(db: Db, { account, provider, to }: ChatRequest): Promise<Refused | undefined> {
  if (provider?.optIn !== 'list' || to === undefined || (await isOptedIn(db, account, to))) return undefined;
  return { kind: 'refused', problem: ['recipient_not_opted_in', {}] };
}
