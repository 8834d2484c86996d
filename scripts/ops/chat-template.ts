import type { ChatTemplateDocument } from '../../shared/templates/chat/chat-template.ts';
import { listChatTemplates } from '../../shared/templates/chat/store.ts';
import { describeParam, paramsOf } from '../../shared/templates/chat/template-params.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { existing } from './owners.ts';
import { accountId, required, words } from './parameters.ts';
import { sheet, table } from './show.ts';

const NAME = words('TEMPLATE', 'a name as `chat-template list` shows it', /^[\w.-]{1,512}$/);
const LANGUAGE = words('LANGUAGE', 'a code like en_US', /^[\w-]{2,35}$/);

export const CHAT_TEMPLATE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'chat-template',
    verb: 'list',
    about: 'Shows the chat-app templates of an account, as of the last copy from its provider.',
    args: { account: required(accountId, 'the account') },
    options: {},
    notes:
      'Accounts ask for them by the dashboard or the API, or make them at the provider, who approves them. The chatapp worker copies\n' +
      'the list every ten minutes, and soon after the provider tells of a change.',
    async run({ account }, { db }) {
      const store = await db();
      await existing(store, account);
      const all = await listChatTemplates(store, account);
      const rows = all.map((one) => [
        one.business,
        one.name,
        one.language,
        one.status,
        one.category,
        String(paramsOf(one).length),
        one.unsendable ?? '-',
        one.syncedAt.toISOString(),
      ]);
      const heading = ['BUSINESS', 'TEMPLATE', 'LANGUAGE', 'STATUS', 'CATEGORY', 'PARAMS', 'CANNOT BE SENT', 'COPIED'];
      return {
        text: table(heading, rows, 'There are none.'),
        json: all.map(summary),
      };
    },
  }),
  defineCommand({
    noun: 'chat-template',
    verb: 'show',
    about:
      'Shows what a chat-app template consists of, and what stands at each place of its params; of each business account that has it.',
    args: {
      account: required(accountId, 'the account'),
      template: required(NAME, 'the template'),
      language: required(LANGUAGE, 'its language'),
    },
    options: {},
    async run({ account, template: name, language }, { db }) {
      const store = await db();
      await existing(store, account);
      const all = await listChatTemplates(store, account);
      const found = all.filter((one) => one.name === name && one.language === language);
      if (found.length === 0) {
        throw new Failure(`There is no template ${name} in ${language}. \`chat-template list ${account}\` shows all.`);
      }
      const each = found.map((template) => {
        const takes = paramsOf(template).map((param) => describeParam(param, template.components));
        return { template, takes };
      });
      return {
        text: each.map(({ template, takes }) => sheet(shown(template, takes))).join('\n\n'),
        json: each.map(({ template, takes }) => ({ ...summary(template), components: template.components, takes })),
      };
    },
  }),
];

function summary(template: ChatTemplateDocument): object {
  const { business, name, language, status, category, unsendable, syncedAt } = template;
  return {
    business_id: business,
    name,
    language,
    status,
    category,
    params: paramsOf(template).length,
    unsendable: unsendable ?? null,
    synced_at: syncedAt,
  };
}

function shown(template: ChatTemplateDocument, params: readonly string[]): Readonly<Record<string, string>> {
  const { business, name, language, status, category, components, unsendable, syncedAt } = template;
  const { header, body, footer, buttons } = components;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['template', `${name}, ${language}`],
    ['business', business],
    ['status', status],
    ['category', category],
    ['header', header?.format === 'text' ? header.text : header?.format],
    ['body', body],
    ['footer', footer],
    ...buttons.map(
      ({ type, text, url = '', phoneNumber = '' }, i) =>
        [`button ${i}`, `${type} "${text}" ${url}${phoneNumber}`.trimEnd()] as const,
    ),
    ...params.map((param, i) => [`params[${i}]`, param] as const),
    ['cannot be sent', unsendable === undefined ? 'no' : `it has ${unsendable}`],
    ['copied', syncedAt.toISOString()],
  ];
  // Control characters could control the terminal that shows the text.
  return Object.fromEntries(
    rows.flatMap(([title, value]) => (value === undefined ? [] : [[title, value.replaceAll(/\p{Cc}+/gu, ' ')]])),
  );
}
