import type { Db } from 'mongodb';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { chatTemplateId, type TemplateOwner } from '../../../shared/templates/chat/chat-template.ts';
import { dropRequest, findByRequest, wishChatTemplate } from '../../../shared/templates/chat/store.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { flag, success, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { invalidUrlRequest } from '../../http/fields/public-url.ts';
import { whole } from '../../http/fields/request.ts';
import { refusedLate } from '../../http/idempotency/action.ts';
import { numberMeant, templatesOfNumber } from '../chatapp/numbers.ts';
import { checkSamples, draftOf } from './draft.ts';
import { EDIT_CHAT_TEMPLATE, REQUEST_CHAT_TEMPLATE } from './draft-fields.ts';
import {
  chatTemplateRecord,
  Language,
  Name,
  OwnChatTemplate,
  type OwnTemplate,
  readOwn,
  stateOf,
} from './templates.ts';

/**
 * Chat-app templates that an account asks for, edits and deletes. The chatapp worker sends stored requests to the
 * provider, and fetches the headers' sample files, whose URLs follow the rules for webhooks (`webhookUrl`).
 */

const OwnChatTemplateResult = success('OwnChatTemplateResult', OwnChatTemplate.shape);

const IN_PATH = { name: Name.describe('Its name.'), language: Language.describe('Its language.') };

const CONTENT_EXAMPLE = {
  category: 'utility',
  body: 'Hello {{1}}, your order has left.',
  body_examples: ['Asha'],
  buttons: [{ type: 'quick_reply', text: 'Where is it?' }],
};

export const requestChatTemplate = endpoint({
  id: 'requestChatTemplate',
  call: 'chatTemplates.request',
  method: 'post',
  path: '/v2/account/chatapp/templates',
  tag: 'Account',
  summary: 'Ask for a chat-app template',
  description:
    'Extension. Asks the provider for a template. The answer says that this is stored; the provider is asked within seconds, and its review takes 24 to 48 hours. Webhooks are told: `template.approved`, `template.rejected`. Carousels have `cards`, limited-time offers `offer`, templates with products a header of `product` or a button `catalog`, `mpm` or `spm`. An authentication template has `code` in place of all texts. An account may ask for 1,000; one more is `quota_reached`.',
  scopes: ['manage'],
  body: REQUEST_CHAT_TEMPLATE,
  ownProblems: true,
  answer: OwnChatTemplateResult,
  problems: ['url_not_allowed', 'chatapp_not_configured', 'template_exists', 'quota_reached'],
  examples: {
    body: {
      example: { name: 'order_left', language: 'en_US', ...CONTENT_EXAMPLE },
      'an offer': {
        ...{
          name: 'summer_offer',
          language: 'en_US',
          category: 'marketing',
          body: 'Take a quarter off until it ends.',
        },
        offer: { text: 'Ends soon!' },
        buttons: [
          { type: 'copy_code', example: 'SUMMER25' },
          { type: 'url', text: 'Shop', url: 'https://shop.example.com/?code={{1}}', example: 'SUMMER25' },
        ],
      },
      'a carousel of products': {
        ...{ name: 'new_plants', language: 'en_US', category: 'marketing', body: 'Look what came in.' },
        cards: [
          { header: { format: 'product' }, buttons: [{ type: 'spm' }] },
          { header: { format: 'product' }, buttons: [{ type: 'spm' }] },
        ],
      },
      'a code': {
        ...{ name: 'login_code_to_copy', language: 'en_US', category: 'authentication' },
        code: { type: 'copy_code', expires_minutes: 5 },
      },
    },
  },
  newId: ({ clock }) => newId('req', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, read }, { id, payBy }) {
      const { db, clock } = deps;
      const account = caller.account._id;
      const { problems } = read;
      const draft = problems.count > 0 ? undefined : draftOf(whole(read), problems);
      const number = await numberMeant(deps, account, read.given.from, problems);
      if (draft !== undefined) await checkSamples(account, draft, number, deps.webhookUrl, problems);
      if (draft === undefined || problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
      if (number === undefined) return refused('chatapp_not_configured');
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { name, language } = whole(read);
      const owner = { account, business: number.businessId };
      const own = await readOwn(db, owner, name, language);
      // A template that the provider refused or deleted may be requested again.
      const mayAsk = own.listed === undefined && own.asked?.due === undefined;
      const wish = { ...owner, name, language, wants: 'create', draft, request: id, requestedAt: clock.now() } as const;
      const made =
        mayAsk &&
        (await changeAudited(deps, caller, {
          action: 'chat-template.request',
          subject: { kind: 'chat-template', id: `${name}:${language}` },
          make: () => wishChatTemplate(db, { _id: chatTemplateId(owner, name, language), ...wish }),
          madeOf: () => draft,
        }));
      if (!made) {
        const detail = `The account has ${name} in ${language} already; it is ${stateOf(own)}. Change that one, or use another name.`;
        return refused('template_exists', { detail });
      }
      return { kind: 'accepted', body: await answerOf(db, owner, name, language) };
    },
    async recover(account, id) {
      const asked = await findByRequest(deps.db, account, id);
      return asked && { kind: 'accepted', body: await answerOf(deps.db, asked, asked.name, asked.language) };
    },
  }),
});

async function answerOf(
  db: Db,
  owner: TemplateOwner,
  name: string,
  language: string,
): Promise<Shown<typeof OwnChatTemplateResult>> {
  return done(chatTemplateRecord(await readOwn(db, owner, name, language)));
}

const EDITABLE: readonly string[] = ['approved', 'rejected', 'paused'];

/** If the provider does not list the template (not requested yet, or refused), it is requested with the new content. */
export const editChatTemplate = endpoint({
  id: 'editChatTemplate',
  call: 'chatTemplates.edit',
  method: 'patch',
  path: '/v2/account/chatapp/templates/{name}/{language}',
  tag: 'Account',
  summary: 'Edit a chat-app template',
  description:
    'Extension. Replaces everything but name and language; `from` says of which business account the template is. The provider lets approved, rejected and paused templates be edited, an approved one once in 24 hours and never its category, and reviews them again.',
  scopes: ['manage'],
  params: IN_PATH,
  query: { from: templatesOfNumber },
  body: EDIT_CHAT_TEMPLATE,
  ownProblems: true,
  answer: OwnChatTemplateResult,
  problems: ['url_not_allowed', 'template_not_found', 'template_not_editable'],
  examples: { body: { example: CONTENT_EXAMPLE } },
  async handle(deps, { caller, params: { name, language }, query: { from }, read }) {
    const { db, clock, webhookUrl } = deps;
    const account = caller.account._id;
    const { problems } = read;
    const draft = problems.count > 0 ? undefined : draftOf(whole(read), problems);
    const number = await numberMeant(deps, account, from, problems);
    if (draft !== undefined) await checkSamples(account, draft, number, webhookUrl, problems);
    if (draft === undefined || problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
    if (number === undefined) return refused('template_not_found', NO_CHAT_TEMPLATE);
    const owner = { account, business: number.businessId };
    const own = await readOwn(db, owner, name, language);
    if (isNone(own)) return refused('template_not_found', NO_CHAT_TEMPLATE);
    const { listed } = own;
    if (listed?.status === 'approved' && listed.category !== draft.category) {
      const words = `It is approved as ${listed.category}, and the provider lets nobody change that. Keep it, or ask for another template.`;
      problems.add('category', 'conflict', words);
      return invalid(problems);
    }
    const detail = whyNot(own);
    if (detail !== undefined) return refused('template_not_editable', { detail });
    const wants = listed === undefined ? 'create' : 'edit';
    const now = clock.now();
    const request = newId('req', now.getTime());
    const wish = { ...owner, name, language, wants, draft, request, requestedAt: now } as const;
    const made = await changeAudited(deps, caller, {
      action: 'chat-template.edit',
      subject: { kind: 'chat-template', id: `${name}:${language}` },
      read: async () => own.asked?.draft ?? own.listed?.components,
      make: () => wishChatTemplate(db, { _id: chatTemplateId(owner, name, language), ...wish }),
      madeOf: () => draft,
    });
    return made ? answerOf(db, owner, name, language) : refused('template_not_editable', { detail: BEING_ASKED });
  },
});

const NO_CHAT_TEMPLATE = {
  detail: 'Check name and language: the account has no such template. `GET /v2/account/chatapp/templates` lists them.',
};

const BEING_ASKED =
  'The provider is just being asked about this template, or webhooks are being told of it. Try again in a minute.';

function isNone({ listed, asked }: OwnTemplate): boolean {
  return listed === undefined && asked === undefined;
}

function whyNot({ listed, asked }: OwnTemplate): string | undefined {
  if (asked?.due !== undefined && (asked.askedAt !== undefined || asked.wants === 'delete')) return BEING_ASKED;
  if (listed === undefined || EDITABLE.includes(listed.status)) return undefined;
  return `The provider lets only approved, rejected and paused templates be edited; it is ${listed.status}.`;
}

/** If the provider does not have the template yet, only our request is removed, at once. */
export const removeChatTemplate = endpoint({
  id: 'removeChatTemplate',
  call: 'chatTemplates.remove',
  method: 'delete',
  path: '/v2/account/chatapp/templates/{name}/{language}',
  tag: 'Account',
  summary: 'Delete a chat-app template',
  description:
    'Extension. Deletes it at the provider, in this language. A request that the provider was not asked for yet is taken back at once.',
  scopes: ['manage'],
  params: IN_PATH,
  query: { from: templatesOfNumber },
  answer: success('RemovedChatTemplate', {
    name: Name,
    language: Language,
    removed: flag('False: the provider is asked to delete it.'),
    message: text(undefined, {
      example: 'The provider is asked to delete it. The name of an approved template cannot be used again for 30 days.',
    }),
  }),
  problems: ['template_not_found', 'template_not_editable'],
  async handle(deps, { caller, params: { name, language }, query: { from } }) {
    const { db, clock } = deps;
    const account = caller.account._id;
    const problems = new FieldProblems();
    const number = await numberMeant(deps, account, from, problems);
    if (problems.count > 0) return invalid(problems);
    if (number === undefined) return refused('template_not_found', NO_CHAT_TEMPLATE);
    const owner = { account, business: number.businessId };
    const own = await readOwn(db, owner, name, language);
    if (isNone(own)) return refused('template_not_found', NO_CHAT_TEMPLATE);
    const { listed, asked } = own;
    const id = chatTemplateId(owner, name, language);
    const now = clock.now();
    const draft = asked?.draft;
    const wish = { ...owner, name, language, wants: 'delete', ...(draft && { draft }), requestedAt: now } as const;
    const removed = await changeAudited(deps, caller, {
      action: 'chat-template.remove',
      subject: { kind: 'chat-template', id: `${name}:${language}` },
      read: async () => chatTemplateRecord(own),
      make: async () => {
        if (listed === undefined) return (await dropRequest(db, id)) ? 'gone' : undefined;
        const stored = await wishChatTemplate(db, { _id: id, ...wish, request: newId('req', now.getTime()) });
        return stored ? 'asked' : undefined;
      },
      madeOf: (made) => ({ removed: made ?? 'not' }),
    });
    if (removed === undefined) return refused('template_not_editable', { detail: BEING_ASKED });
    const message =
      removed === 'gone'
        ? 'The request is taken back.'
        : 'The provider is asked to delete it. The name of an approved template cannot be used again for 30 days.';
    return done({ name, language, removed: removed === 'gone', message });
  },
});
