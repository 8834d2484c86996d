import type { Route } from '../../shared/messages/message.ts';
import { isSenderForm } from '../../shared/senders/sender-form.ts';
import { createSender, listSenders, SenderExists } from '../../shared/senders/store.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, list, required, withDefault } from './parameters.ts';
import { table } from './show.ts';

const ROUTES = ['transactional', 'promotional'] as const satisfies readonly Route[];
const account = required(accountId, 'the account');
const senderId = {
  value: 'SENDER',
  form: '1 to 11 letters, digits and signs with a letter among them, or 3 to 15 digits',
  parse: (text: string) => (isSenderForm(text) ? text : undefined),
};

export const SENDER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'sender',
    verb: 'create',
    about: 'Registers a sender to an account, approved.',
    args: { account, sender: required(senderId, 'as recipients see it; capitals count') },
    options: { routes: withDefault(list('ROUTES', ROUTES), ROUTES.join(','), 'the routes it may be used on') },
    async run({ account, sender, routes }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      try {
        const made = await createSender(store, clock, { account, sender, routes, status: 'approved' });
        return {
          text: `${sender} is registered (${made._id}) for ${routes.join(', ')}.`,
          json: { id: made._id, account, sender, routes, status: made.status },
        };
      } catch (error) {
        if (error instanceof SenderExists) throw new Failure(`${sender} is registered to ${account} already.`);
        throw error;
      }
    },
  }),
  defineCommand({
    noun: 'sender',
    verb: 'list',
    about: 'Shows the senders of an account.',
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const store = await db();
      await existing(store, account);
      const all = await listSenders(store, account);
      return {
        text: table(
          ['SENDER', 'STATUS', 'ROUTES'],
          all.map((one) => [one.sender, one.status, one.routes.join(',')]),
          'It has no senders yet.',
        ),
        json: all.map(({ _id, sender, routes, status }) => ({ id: _id, sender, routes, status })),
      };
    },
  }),
];
