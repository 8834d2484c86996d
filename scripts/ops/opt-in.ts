import { customerOf } from '../../gateway/endpoints/opt-ins/customer.ts';
import { addOptIns, listOptIns, removeOptIn } from '../../shared/carriers/chat-opt-in-store.ts';
import { completionFor } from '../../shared/carriers/numbers/completion.ts';
import { CUSTOMER_FORM } from '../../shared/messages/document/recipient.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { customersOf } from './customer-list.ts';
import { readNumberFile, refuseBadLines } from './number-file.ts';
import { accountId, integer, optional, required, withDefault, words } from './parameters.ts';
import { table } from './show.ts';

const account = required(accountId, 'the account');
const name = {
  ...words('CUSTOMER', '8 to 15 digits, country code first; or a user id', CUSTOMER_FORM),
  parse: (text: string) => (CUSTOMER_FORM.test(customerOf(text)) ? customerOf(text) : undefined),
};
const customer = required(name, 'the customer: a number, or the user id of one who shows none');

export const OPT_IN_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'opt-in',
    verb: 'add',
    about: 'Records that a customer agreed to receive templates of an account.',
    args: { account, customer },
    options: {},
    notes: 'The list is used for accounts with `provider set --opt-in list`. It may be filled before that.',
    async run({ account, customer }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      const added = (await addOptIns(store, clock, account, [customer])) === 1;
      return {
        text: added ? `${customer} is on the list.` : `${customer} was on the list already.`,
        json: { account, customer, added },
      };
    },
  }),
  defineCommand({
    noun: 'opt-in',
    verb: 'remove',
    about: 'Removes a customer from the list: templates to this customer are refused from now on.',
    args: { account, customer },
    options: {},
    async run({ account, customer }, { db }) {
      if (!(await removeOptIn(await db(), account, customer))) {
        throw new Failure(`${customer} is not on the list of ${account}.`);
      }
      return { text: `${customer} is not on the list any more.`, json: { account, customer } };
    },
  }),
  defineCommand({
    noun: 'opt-in',
    verb: 'list',
    about: 'Shows the customers who opted in, by number.',
    args: { account },
    options: {
      limit: withDefault(integer('N', 1, 10_000), '1000', 'most customers to show'),
      after: optional(name, 'continue after this customer'),
    },
    async run({ account, limit, after }, { db }) {
      const store = await db();
      await existing(store, account);
      const found = await listOptIns(store, account, limit, after);
      const last = found.length === limit ? found.at(-1) : undefined;
      const rows = found.map((one) => [one.customer, one.at.toISOString()]);
      const lines = [table(['CUSTOMER', 'SINCE'], rows, 'There are none.')];
      if (last !== undefined) lines.push(`There may be more: --after ${last.customer}`);
      return { text: lines.join('\n'), json: found.map(({ customer, at }) => ({ customer, at })) };
    },
  }),
  defineCommand({
    noun: 'opt-in',
    verb: 'import',
    about:
      'Adds the customers of a file: the number or user id in the first column. If any line is bad, nothing is added.',
    args: {
      account,
      file: required(words('FILE', 'a file', /^.+$/), 'text; empty lines and text after # are ignored'),
    },
    options: {},
    notes: 'May be repeated: customers on the list stay as they are.',
    async run({ account, file }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      const { customers, problems } = customersOf(await readNumberFile(file), await completionFor(store, account));
      refuseBadLines(problems);
      const added = await addOptIns(store, clock, account, customers);
      return {
        text: `${added} customers are added, ${customers.length - added} were on the list already.`,
        json: { added, known: customers.length - added },
      };
    },
  }),
];
