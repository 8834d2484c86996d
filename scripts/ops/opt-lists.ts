import type { Db } from 'mongodb';
import { customerOf } from '../../gateway/endpoints/opt-ins/customer.ts';
import { type Completion, completionFor } from '../../shared/carriers/numbers/store.ts';
import {
  changeOptOuts,
  listOptOuts,
  type OptOutDocument,
  type OptOutPlace,
  optOutPlace,
  WHOLE_ACCOUNT,
} from '../../shared/carriers/opt-outs/store.ts';
import { customerProblem, recipientProblem } from '../../shared/messages/document/recipient.ts';
import { parseTimeOrDay, TIME_OR_DAY } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { phoneDigits, wordOf } from '../../shared/platform/sheets/cell.ts';
import { perform } from './act.ts';
import { accountId, type Command, defineCommand, required, words } from './command.ts';
import { type LineProblem, type NumberFile, readNumberFile, refuseBadLines } from './input.ts';
import { existing } from './owners.ts';

/** The most customers in one request. */
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

interface CustomerList {
  /** Distinct, in the file's order. */
  readonly customers: readonly string[];
  readonly problems: readonly LineProblem[];
}

/** The number or user id in each first column. Text after `#` is ignored. National numbers are completed. */
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

const account = required(accountId, 'the account');
/** The most opt-outs in one write or read. */
const GROUP = 1_000;

export const OPT_OUT_COMMANDS: readonly Command[] = [
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

/** Columns of `opt-out export`. An import needs only the customers. */
const COLUMNS = ['customer', 'number', 'since', 'source', 'word'] as const;
/** Other names of the column `customer`. Beside it, `number` is the account's own number. */
const CUSTOMER_NAMES = [
  ...['customer', 'recipient', 'msisdn', 'mobile', 'mobilenumber', 'mobileno', 'phone', 'phonenumber', 'phoneno'],
  ...['contact', 'contactnumber', 'contactno', 'number'],
];
/** A day begins at the date line this long before it begins in UTC. */
const DAY_AHEAD_MS = 14 * 3_600_000;

const OPT_OUT_HEADING = COLUMNS.join(',');

interface OptOutLine {
  readonly customer: string;
  readonly scope: string;
  readonly since?: Date;
}

interface OptOutFile {
  readonly lines: readonly OptOutLine[];
  readonly problems: readonly LineProblem[];
}

/** Words are normalized by `foldText`, so they contain no comma and no quote. */
function optOutLine({ customer, scope, since, source, word }: OptOutDocument): string {
  const number = scope === WHOLE_ACCOUNT ? '' : scope;
  return [customer, number, since?.toISOString() ?? '', source ?? '', word ?? ''].join(',');
}

/**
 * Opt-outs by the heading's names, or in the order `customer`, `number` (empty: the whole account), `since`, of which
 * the last two may be missing. National numbers are completed.
 */
function optOutsOf({ head, rows }: NumberFile, complete: Completion, now: Date): OptOutFile {
  const lines: OptOutLine[] = [];
  const problems: LineProblem[] = [];
  const columns = columnsOf(head);
  for (const { line, cells } of rows) {
    const written = phoneDigits(cells[columns.customer] ?? '');
    const number = phoneDigits(cells[columns.number] ?? '');
    const customer = /^[0-9]+$/.test(written) ? complete(written, number) : written;
    const since = sinceOf(cells[columns.since] ?? '', now);
    const detail =
      recipientProblem(customer) ??
      (/^(\d{3,15})?$/.test(number) ? undefined : 'The number must have 3 to 15 digits.') ??
      (typeof since === 'string' ? since : undefined);
    if (detail !== undefined || typeof since === 'string') problems.push({ line, detail: detail ?? '' });
    else lines.push({ customer, scope: number === '' ? WHOLE_ACCOUNT : number, ...(since && { since }) });
  }
  return { lines, problems };
}

function columnsOf(head: readonly string[]) {
  if (head.length === 0) return { customer: 0, number: 1, since: 2 };
  const customer = Math.max(0, head.indexOf(CUSTOMER_NAMES.find((name) => head.includes(name)) ?? ''));
  const number = head.indexOf('number');
  return { customer, number: number === customer ? -1 : number, since: head.indexOf('since') };
}

/** Undefined if the cell is empty, a sentence if it is no time in the past. */
function sinceOf(cell: string, now: Date): Date | string | undefined {
  const { text } = wordOf(cell);
  if (text === '') return undefined;
  const at = parseTimeOrDay(text);
  if (at === undefined)
    return `${JSON.stringify(text.slice(0, 30))} is no time that is the same for everybody. Write ${TIME_OR_DAY}.`;
  if (at <= now) return at;
  return text.length === 10 && at.getTime() - now.getTime() < DAY_AHEAD_MS ? now : 'The time is in the future.';
}
