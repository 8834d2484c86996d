import { perform, type Told } from './act.ts';
import { recordText } from './answer-text.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { existing } from './owners.ts';
import { accountId, required, words } from './parameters.ts';

export const CHAT_TEMPLATE_COMMAND: Command = defineCommand({
  noun: 'chat-template',
  verb: 'show',
  about:
    'Shows what a chat-app template consists of, and what stands at each place of its params; of each business account that has it.',
  args: {
    account: required(accountId, 'the account'),
    template: required(words('TEMPLATE', 'a name as `chat-template list` shows it', /^.+$/), 'the template'),
    language: required(words('LANGUAGE', 'a code like en_US', /^.+$/), 'its language'),
  },
  options: {},
  isEndpoint: true,
  async run({ account, template, language }, context) {
    const owner = await existing(await context.db(), account);
    const found: Told[] = [];
    for (let cursor: Told = {}; cursor !== undefined; ) {
      const query = { language, limit: '500', ...cursor };
      const page = await perform(context, 'ownChatTemplates', { query }, owner);
      found.push(...page.data.filter(({ name }: Told) => name === template));
      cursor = page.next_cursor === null ? undefined : { cursor: page.next_cursor };
    }
    if (found.length === 0) {
      throw new Failure(
        `There is no template ${template} in ${language}. \`chat-template list ${account}\` shows all.`,
      );
    }
    return { text: found.map(shown).join('\n\n'), json: found };
  },
});

/** Each place of `params` has a line of its own: a send counts them. */
function shown({ params, header, ...one }: Told): string {
  const places = params.map((place: string, at: number) => [`params[${at}]`, place]);
  return recordText({ ...one, header: header?.text ?? header?.format ?? null, ...Object.fromEntries(places) });
}
