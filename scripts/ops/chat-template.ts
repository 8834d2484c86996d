import { listChatTemplates } from '../../shared/chat-templates/store.ts';
import { existing } from './account.ts';
import { type Command, defineCommand } from './command.ts';
import { accountId, required } from './parameters.ts';
import { table } from './show.ts';

export const CHAT_TEMPLATE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'chat-template',
    verb: 'list',
    about: 'Shows the chat-app templates of an account, as of the last copy from its provider.',
    args: { account: required(accountId, 'the account') },
    options: {},
    notes: 'They are created and approved at the provider. The chatapp worker copies them every few minutes.',
    async run({ account }, { db }) {
      const store = await db();
      await existing(store, account);
      const all = await listChatTemplates(store, account);
      const rows = all.map((one) => [
        one.name,
        one.language,
        one.status,
        one.category,
        String(one.variables),
        one.unsendable ?? '-',
        one.syncedAt.toISOString(),
      ]);
      const heading = ['TEMPLATE', 'LANGUAGE', 'STATUS', 'CATEGORY', 'PARAMS', 'CANNOT BE SENT', 'COPIED'];
      return {
        text: table(heading, rows, 'There are none.'),
        json: all.map(({ name, language, status, category, variables, unsendable, syncedAt }) => ({
          name,
          language,
          status,
          category,
          params: variables,
          unsendable: unsendable ?? null,
          synced_at: syncedAt,
        })),
      };
    },
  }),
];
