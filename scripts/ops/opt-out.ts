import type { Db } from 'mongodb';
import { completionFor } from '../../shared/carriers/numbers/completion.ts';
import { findNumber } from '../../shared/carriers/numbers/store.ts';
import { type OptOutDocument, type OptOutPlace, WHOLE_ACCOUNT } from '../../shared/carriers/opt-outs/opt-out.ts';
import { changeOptOuts, listOptOuts, optOutPlace } from '../../shared/carriers/opt-outs/store.ts';
import { recipientProblem } from '../../shared/messages/document/recipient.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { phoneDigits } from '../../shared/platform/sheets/cell.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { readNumberFile, refuseBadLines } from './number-file.ts';
import { OPT_OUT_HEADING, optOutLine, optOutsOf } from './opt-out-file.ts';
import { existing } from './owners.ts';
import { accountId, integer, optional, ownNumber, required, type Shape, withDefault, words } from './parameters.ts';
import { table } from './show.ts';

const account = required(accountId, 'the account');
const customerNumber: Shape<string> = {
  value: 'NUMBER',
  form: "7 to 15 digits; without a country code they are of the account's country",
  parse: (text) => (/^0?[1-9][0-9]{6,14}$/.test(phoneDigits(text)) ? phoneDigits(text) : undefined),
};
const customer = required(customerNumber, "the customer's number");
const number = optional(ownNumber, "the account's number that the customer wants no messages of; default: the account");
/** The most opt-outs in one write or read. */
const GROUP = 1_000;

export const OPT_OUT_COMMANDS: readonly Command[] = [
  change('add', 'out', 'Refuses messages to a customer: those of a number of the account, or all of the account.'),
  change('remove', 'in', 'Removes an opt-out: only when the customer asked for messages again.'),
  defineCommand({
    noun: 'opt-out',
    verb: 'list',
    about: 'Shows the customers who opted out, by number.',
    args: { account },
    options: {
      number: optional(ownNumber, "only opt-outs of this number of the account's"),
      customer: optional(customerNumber, 'only this customer'),
      limit: withDefault(integer('N', 1, 10_000), '1000', 'most opt-outs to show'),
    },
    async run({ account, number, customer: written, limit }, { db }) {
      const store = await db();
      await existing(store, account);
      const customer = written === undefined ? undefined : (await completionFor(store, account))(written, number);
      const found = await listOptOuts(store, account, { customer, scope: number }, undefined, limit);
      const rows = found.map(({ customer, scope, since, source, word }) => [
        ...[customer, scope === WHOLE_ACCOUNT ? 'all' : scope, since?.toISOString() ?? '-', source ?? '-', word ?? '-'],
      ]);
      const lines = [table(['CUSTOMER', 'NUMBER', 'SINCE', 'SOURCE', 'WORD'], rows, 'There are none.')];
      if (found.length === limit) lines.push('There may be more: `opt-out export` shows all.');
      return { text: lines.join('\n'), json: found.map(({ _id, changedAt, changedBy, account, out, ...one }) => one) };
    },
  }),
  defineCommand({
    noun: 'opt-out',
    verb: 'import',
    about:
      'Adds the opt-outs of a CSV file: customer, and perhaps number and since (a day, or a time with its offset). If any line is bad, nothing is added.',
    args: { account, file: required(words('FILE', 'a file', /^.+$/), 'as `opt-out export` writes it') },
    options: {},
    notes: 'May be repeated, also after it was interrupted: who is on the list stays as before.',
    async run({ account, file }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      const now = clock.now();
      const { lines, problems } = optOutsOf(await readNumberFile(file), await completionFor(store, account), now);
      refuseBadLines(problems);
      for (let start = 0; start < lines.length; start += GROUP) {
        const what = { account, kind: 'out', source: 'import' } as const;
        const group = lines.slice(start, start + GROUP);
        await changeOptOuts(
          store,
          group.map(({ customer, scope, since }) => ({ ...what, customer, scope, at: now, ...(since && { since }) })),
        );
      }
      return { text: `${lines.length} opt-outs are on the list.`, json: { account, imported: lines.length } };
    },
  }),
  defineCommand({
    noun: 'opt-out',
    verb: 'export',
    about: 'Writes all opt-outs of an account as CSV, which `opt-out import` reads.',
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const store = await db();
      await existing(store, account);
      return { lines: (asJson) => exported(store, account, asJson) };
    },
  }),
];

function change(verb: string, kind: 'out' | 'in', about: string): Command {
  return defineCommand({
    noun: 'opt-out',
    verb,
    about,
    args: { account, customer },
    options: { number },
    notes: 'Known to the gateways within seconds.',
    async run({ account, customer: written, number: scope = WHOLE_ACCOUNT }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      const customer = (await completionFor(store, account))(written, scope);
      const problem = recipientProblem(customer);
      if (problem !== undefined) throw new Failure(`${written}: ${problem}`);
      const [before] = await listOptOuts(store, account, { customer, scope }, undefined, 1);
      if (kind === 'in' && before === undefined)
        throw new Failure(`${customer} has not opted out of ${ofWhat(scope)}.`);
      await changeOptOuts(store, [{ account, customer, scope, kind, at: clock.now(), source: 'ops' }]);
      const text =
        kind === 'in'
          ? `${customer} may get messages of ${ofWhat(scope)}.`
          : await blockedWords(store, account, customer, scope);
      return { text, json: { account, customer, number: scope === WHOLE_ACCOUNT ? null : scope } };
    },
  });
}

/**
 * Says what a customer does not get any more. An opt-out from a number holds for the account's sender names too, because the
 * customer cannot answer to a name (`blocks` in shared/carriers/opt-outs).
 */
async function blockedWords(db: Db, account: AccountId, customer: string, scope: string): Promise<string> {
  if (scope === WHOLE_ACCOUNT) return `${customer} gets no messages of the account.`;
  const own = (await findNumber(db, scope)).some((one) => one.account === account);
  const warning = own ? '' : `\n${scope} is no number of the account: \`number list --account ${account}\` shows them.`;
  return `${customer} gets no messages of the number ${scope}, nor of any sender name of the account.${warning}`;
}

function ofWhat(scope: string): string {
  return scope === WHOLE_ACCOUNT ? 'the account' : `the number ${scope}`;
}

async function* exported(store: Db, account: AccountId, asJson: boolean): AsyncIterable<string> {
  if (!asJson) yield OPT_OUT_HEADING;
  let after: OptOutPlace | undefined;
  for (;;) {
    const found: OptOutDocument[] = await listOptOuts(store, account, {}, after, GROUP);
    for (const one of found) {
      const { customer, scope, since, source, word } = one;
      yield asJson ? JSON.stringify({ customer, scope, since, source, word }) : optOutLine(one);
    }
    const last = found.at(-1);
    if (last === undefined || found.length < GROUP) return;
    after = optOutPlace(last);
  }
}
