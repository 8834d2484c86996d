import { customerOf } from '../../gateway/endpoints/opt-ins/customer.ts';
import { type Completion, completionFor } from '../../shared/carriers/numbers/store.ts';
import { customerProblem } from '../../shared/messages/document/recipient.ts';
import { perform } from './act.ts';
import { type Command, defineCommand } from './command.ts';
import { existing } from './owners.ts';
import { accountId, required, words } from './parameters.ts';
import { type LineProblem, type NumberFile, readNumberFile, refuseBadLines } from './read-file.ts';

/** Most customers of one request. */
const GROUP_MAX = 10_000;

export const OPT_IN_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'opt-in',
    verb: 'import',
    about:
      'Adds the customers of a file: the number or user id in the first column. If any line is bad, nothing is added.',
    args: {
      account: required(accountId, 'the account'),
      file: required(words('FILE', 'a file', /^.+$/), 'text; empty lines and text after # are ignored'),
    },
    options: {},
    isEndpoint: true,
    notes: 'May be repeated: customers on the list stay as they are.',
    async run({ account, file }, context) {
      const db = await context.db();
      await existing(db, account);
      const { customers, problems } = customersOf(await readNumberFile(file), await completionFor(db, account));
      refuseBadLines(problems);
      let added = 0;
      for (let start = 0; start < customers.length; start += GROUP_MAX) {
        const body = { customers: customers.slice(start, start + GROUP_MAX) };
        added += (await perform(context, 'addOptIns', { params: { account_id: account }, body })).added;
      }
      const known = customers.length - added;
      return { text: `${added} customers are added, ${known} were on the list already.`, json: { added, known } };
    },
  }),
];

export interface CustomerList {
  /** Without repeats, in the file's order. */
  readonly customers: readonly string[];
  readonly problems: readonly LineProblem[];
}

/**
 * Customers of a file: the number or user id in the first column. Text after `#` is ignored. Numbers in national form are completed.
 */
export function customersOf({ rows }: Pick<NumberFile, 'rows'>, complete: Completion): CustomerList {
  const customers = new Set<string>();
  const problems: LineProblem[] = [];
  for (const { line, cells } of rows) {
    const [cell = ''] = (cells[0] ?? '').split('#');
    const written = customerOf(cell);
    if (written === '') continue;
    const customer = /^[0-9]+$/.test(written) ? complete(written) : written;
    const detail = customerProblem(customer);
    if (detail === undefined) customers.add(customer);
    else problems.push({ line, detail });
  }
  return { customers: [...customers], problems };
}
