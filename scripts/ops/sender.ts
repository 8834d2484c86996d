import type { SenderDocument } from '../../shared/carriers/sender.ts';
import { isSenderForm } from '../../shared/carriers/sender-form.ts';
import {
  createSender,
  decideSender,
  findSender,
  listSenderPage,
  SenderExists,
} from '../../shared/carriers/sender-store.ts';
import type { Route } from '../../shared/messages/document/message.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, choice, integer, line, list, optional, required, withDefault, words } from './parameters.ts';
import { table } from './show.ts';

const ROUTES = ['transactional', 'promotional'] as const satisfies readonly Route[];
const account = required(accountId, 'the account');
const senderId = {
  value: 'SENDER',
  form: '1 to 11 letters, digits and signs with a letter among them, or 3 to 15 digits',
  parse: (text: string) => (isSenderForm(text) ? text : undefined),
};

const sender = required(senderId, 'as recipients see it; case matters');

export const SENDER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'sender',
    verb: 'create',
    about: 'Registers a sender to an account.',
    args: { account, sender },
    options: {
      routes: withDefault(list('ROUTES', ROUTES), ROUTES.join(','), 'the routes it may be used on'),
      status: withDefault(choice(['approved', 'submitted']), 'approved', 'whether the operators have approved it'),
    },
    async run({ account, sender, routes, status }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      try {
        const made = await createSender(store, clock, { account, sender, routes, status });
        return {
          text: `${sender} is ${status} (${made._id}) for ${routes.join(', ')}.`,
          json: { id: made._id, account, sender, routes, status: made.status },
        };
      } catch (error) {
        if (error instanceof SenderExists) throw new Failure(`${sender} is registered to ${account} already.`);
        throw error;
      }
    },
  }),
  decision('approve', 'approved', 'Lets an account use a sender that it submitted.'),
  decision('reject', 'rejected', 'Lets an account not use a sender any more.'),
  defineCommand({
    noun: 'sender',
    verb: 'list',
    about: 'Shows the senders of an account.',
    args: { account },
    options: {
      limit: withDefault(integer('N', 1, 10_000), '1000', 'most to show'),
      after: optional(senderId, 'continue after this sender'),
    },
    async run({ account, limit, after }, { db }) {
      const store = await db();
      await existing(store, account);
      const all = await listSenderPage(store, account, after ?? '', limit);
      const last = all.length < limit ? undefined : all.at(-1);
      return {
        text: [
          table(
            ['SENDER', 'STATUS', 'ROUTES', 'ID'],
            all.map((one) => [one.sender, one.status, one.routes.join(','), one._id]),
            'It has no senders yet.',
          ),
          ...(last === undefined ? [] : [`There may be more: --after ${last.sender}`]),
        ].join('\n'),
        json: all.map(({ _id, sender, routes, status }) => ({ id: _id, sender, routes, status })),
      };
    },
  }),
];

function decision(verb: string, status: 'approved' | 'rejected', about: string): Command {
  return defineCommand({
    noun: 'sender',
    verb,
    about: `${about} Known to the gateways within seconds.`,
    args: { account, sender },
    options: {
      reason: optional(line, 'for people'),
      id: optional(
        words('ID', 'as `sender list` shows it', /^snd_[0-9a-hjkmnp-tv-z]{26}$/),
        'the request that you read; needed to approve what the account asked for itself',
      ),
    },
    async run({ account, sender, reason, id }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      const found = await findSender(store, account, sender);
      if (found === undefined)
        throw new Failure(`${account} has no sender ${sender}: \`sender list ${account}\` shows them.`);
      if (id === undefined && found.requested && status === 'approved') throw unread(found);
      // The account may take its request back, and ask for other routes, at any time.
      const isRead = id === undefined || id === found._id;
      if (!isRead || !(await decideSender(store, clock, account, sender, status, reason, found._id))) {
        throw new Failure(`${sender} was asked for again since. Read it again: \`sender list ${account}\`.`);
      }
      return { text: `${sender} is ${status}.`, json: { account, sender, status } };
    },
  });
}

function unread({ _id, sender, routes }: SenderDocument): Failure {
  return new Failure(
    `Not approved: the account asked for ${sender} itself, for ${routes.join(', ')}. If you mean that, add --id ${_id}.`,
  );
}
