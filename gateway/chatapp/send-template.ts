import type { Db } from 'mongodb';
import { isOptedIn } from '../../shared/chat-opt-ins/store.ts';
import type { ChatTemplateDocument } from '../../shared/chat-templates/chat-template.ts';
import { findChatTemplate, languagesOf } from '../../shared/chat-templates/store.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { list, otherwise, required } from '../fields/field.ts';
import { readRequest, request } from '../fields/request.ts';
import type { JsonObject } from '../http/context.ts';
import type { FieldProblems } from '../http/fields.ts';
import type { Refused } from '../idempotency/action.ts';
import { EXTENSIONS, text, to } from './fields.ts';
import type { ChatRequest, ChatSend } from './send.ts';

const PARAMS_MAX = 250;

/**
 * Limits: the Graph API takes names of up to 512 characters, language codes are far shorter than 32, and one param
 * can fill a body of 1,024 characters.
 */
export const SEND_TEMPLATE = request({
  to,
  template: required(text({ description: 'Name of an approved template.', maxLength: 512 })),
  language: required(
    text({ description: 'Its language code, as `GET /v2/chatapp/templates` shows it.', maxLength: 32 }),
  ),
  params: otherwise(
    list(text({ description: 'A value.', maxLength: 1_024 }), {
      description: 'Values for the variables of its body, in order. Leave it out if there are none.',
      maxItems: PARAMS_MAX,
    }),
    () => [],
  ),
  ...EXTENSIONS,
});

/**
 * POST /v2/chatapp/send: an approved template, at any time. A business can begin a conversation only with a template.
 */
export function createSendTemplate(db: Db): ChatSend {
  return {
    name: 'chatapp-send',
    async order(asked) {
      const { account, body, context } = asked;
      const read = await readRequest(SEND_TEMPLATE, body, context);
      const { to: recipient, template: name, language, params } = read.given;
      if (name === undefined || language === undefined) return { read, content: undefined };
      const template = await findChatTemplate(db, account, name, language);
      if (template === undefined) {
        return { read, content: undefined, refused: await notFound(db, account, name, language) };
      }
      checkCount(body, template, read.problems);
      if (params === undefined) return { read, content: undefined };
      const refused = refusedTemplate(template) ?? (await refusedRecipient(db, asked, recipient));
      const content = { kind: 'template', name, language, params } as const;
      return refused === undefined ? { read, content } : { read, content, refused };
    },
    result: ({ _id, conversation }) => ({ status: 'success', message_id: _id, conversation_id: conversation }),
  };
}

/** Counts the entries of the list, bad ones included, because a wrong count is a problem of its own. */
function checkCount({ params = [] }: JsonObject, { variables }: ChatTemplateDocument, problems: FieldProblems): void {
  if (!Array.isArray(params) || params.length > PARAMS_MAX || params.length === variables) return;
  const wanted = variables === 0 ? 'takes no params' : `takes ${variables}, in order`;
  problems.add('params', 'wrong_count', `The template ${wanted}; ${params.length} are given.`);
}

async function notFound(db: Db, account: AccountId, name: string, language: string): Promise<Refused> {
  const languages = await languagesOf(db, account, name);
  const see =
    languages.length === 0 ? 'GET /v2/chatapp/templates lists those it has.' : `It has it in ${languages.join(', ')}.`;
  const detail = `The account has no template "${name}" in the language "${language}". ${see}`;
  return { kind: 'refused', problem: ['template_not_found', { detail }] };
}

function refusedTemplate({ name, status, unsendable }: ChatTemplateDocument): Refused | undefined {
  if (status !== 'approved') {
    const detail = `The template "${name}" is ${status}, not approved.`;
    return { kind: 'refused', problem: ['template_not_approved', { detail }] };
  }
  if (unsendable === undefined) return undefined;
  const detail = `The template "${name}" needs ${unsendable}, which \`params\` cannot fill.`;
  return { kind: 'refused', problem: ['template_not_supported', { detail }] };
}

/** Read from the store each time: a customer who withdrew consent must not get another template. */
async function refusedRecipient(
  db: Db,
  { account, provider }: ChatRequest,
  to: string | undefined,
): Promise<Refused | undefined> {
  if (provider?.optIn !== 'list' || to === undefined || (await isOptedIn(db, account, to))) return undefined;
  return { kind: 'refused', problem: ['recipient_not_opted_in', {}] };
}
