import { z } from 'zod';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { countListed, readTemplateStatuses } from '../../../shared/templates/chat/store.ts';
import { endpoint, invalid } from '../../api/endpoint.ts';
import { flag, named, text } from '../../api/shapes.ts';
import { pageOfWhole, readWhole } from '../../api/whole-list.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { numberMeant, templatesOfNumber } from './numbers.ts';

const ChatTemplate = named('ChatTemplate', 'A template of the chat app.', {
  name: text(undefined, { example: 'order_update' }),
  status: text(
    'Only `approved` templates can be sent. Others are `pending`, `rejected`, `paused`, `disabled`, or another state that the provider names.',
    { example: 'approved' },
  ),
  language: text('Language code, for example `en_US`.', { example: 'en_US' }),
});

const ChatTemplates = named('ChatTemplates', {
  templates: z.array(ChatTemplate).meta({
    description: 'As the provider last reported.',
    example: [
      { name: 'order_update', status: 'approved', language: 'en_US' },
      { name: 'sale', status: 'pending', language: 'hi' },
    ],
  }),
  next_cursor: text('Extension. Only of a page: pass it as `cursor` for the next one. Null on the last one.')
    .nullable()
    .optional(),
  has_more: flag('Extension. Only of a page.').optional(),
});

const LIST = 'chatapp_templates';

function isPlace(text: string): text is string {
  return /^[^\s:]{1,512}:[\w-]{1,35}$/.test(text);
}

/** The templates of one of the account's business accounts, as the provider listed them last. */
export const chatappTemplates = endpoint({
  id: 'chatappTemplates',
  call: 'chatapp.templates',
  method: 'get',
  path: '/v2/chatapp/templates',
  tag: 'Chat-app',
  summary: 'Templates of the chat-app channel',
  description:
    'All of them; with several business accounts those of the default number, which a send without `from` takes, or those of the number that `from` names. Counts as one request for each 500 templates. Extension: with `limit` or `cursor` it answers a page, which has `next_cursor` and `has_more` too.',
  scopes: ['read'],
  test: 'same',
  query: { ...pageOfWhole(LIST, isPlace), from: templatesOfNumber },
  answer: ChatTemplates,
  async handle(gateway, { caller, query }) {
    const { db } = gateway;
    const problems = new FieldProblems();
    const number = await numberMeant(gateway, caller.account._id, query.from, problems);
    if (problems.count > 0) return invalid(problems);
    // Without a number there is no business account, and nothing can be sent.
    const businessOf = (account: AccountId) => ({ account, business: number?.businessId ?? '' });
    return readWhole<z.infer<typeof ChatTemplate>>(caller.account._id, query, {
      list: LIST,
      placeOf: ({ name, language }) => `${name}:${language}`,
      count: (account) => countListed(db, businessOf(account)),
      read: (account, after, limit) => readTemplateStatuses(db, businessOf(account), after, limit),
    });
  },
});
