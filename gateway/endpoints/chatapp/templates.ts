import { z } from 'zod';
import { countListed, readTemplateStatuses } from '../../../shared/templates/chat/store.ts';
import { createWholeList } from '../../access/whole-list.ts';
import { endpoint } from '../../api/endpoint.ts';
import { flag, named, text } from '../../api/shapes.ts';
import { optional, string } from '../../http/fields/field.ts';
import { cursorOf } from '../../http/fields/query.ts';

const ChatTemplate = named('ChatTemplate', {
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

/** The account's templates, as the provider listed them last. */
export const chatappTemplates = endpoint({
  id: 'chatappTemplates',
  method: 'get',
  path: '/v2/chatapp/templates',
  tag: 'Chat-app',
  summary: 'Templates of the chat-app channel',
  description:
    'All of them. Counts as one request for each 500 templates. Extension: with `limit` or `cursor` it answers a page, which has `next_cursor` and `has_more` too.',
  scopes: ['read'],
  query: {
    limit: optional(
      string(
        {
          type: 'integer',
          description: 'Most entries of a page. Without it and without `cursor`: all.',
          minimum: 1,
          maximum: 500,
        },
        (text) => text,
      ),
    ),
    cursor: cursorOf(LIST, isPlace),
  },
  answer: ChatTemplates,
  // The list is written in slices, as it may have thousands of entries.
  respond: ({ db, reading }) =>
    createWholeList<z.infer<typeof ChatTemplate>>(reading.answerRead, {
      list: LIST,
      isPlace,
      placeOf: ({ name, language }) => `${name}:${language}`,
      count: (account) => countListed(db, account),
      read: (account, after, limit) => readTemplateStatuses(db, account, after, limit),
    }),
});
