import { listAccounts } from '../../shared/money/accounts/store.ts';
import type { LedgerEntryDocument } from '../../shared/money/ledger/entry.ts';
import { readStatement } from '../../shared/money/ledger/statement.ts';
import { type LedgerVerdict, verifyLedger } from '../../shared/money/ledger/verify.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { type Command, type Context, defineCommand, Failure } from './command.ts';
import { existing } from './owners.ts';
import { accountId, flag, integer, optional, required } from './parameters.ts';
import { table } from './show.ts';

const PAGE = 20;
const PAGE_MAX = 10_000;

export const LEDGER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'ledger',
    verb: 'verify',
    about: 'Proves that every change of a balance is in the ledger, without a gap.',
    args: {},
    options: { account: optional(accountId, 'only this account; default: all') },
    notes: 'The result is right at any moment, also while messages flow. Exit code 1 when a chain is broken.',
    async run({ account }, { db }) {
      const store = await db();
      const ids =
        account === undefined
          ? (await listAccounts(store)).map((one) => one._id)
          : [(await existing(store, account))._id];
      const verdicts: LedgerVerdict[] = [];
      for (const id of ids) verdicts.push(await verifyLedger(store, id));
      const broken = verdicts.filter((verdict) => verdict.problems.length > 0);
      const rows = verdicts.map((verdict) => [
        verdict.account,
        String(verdict.entries),
        String(verdict.balance),
        verdict.problems.length === 0 ? 'whole' : verdict.problems.join('; '),
      ]);
      const sum =
        broken.length === 0
          ? `${verdicts.length} of ${verdicts.length} ledgers are whole.`
          : `${broken.length} of ${verdicts.length} ledgers ARE BROKEN. CHAIN says where: look at the entries around it (ledger show), and back up the store before you correct anything.`;
      return {
        text: `${table(['ACCOUNT', 'ENTRIES', 'BALANCE', 'CHAIN'], rows, 'There are no accounts yet.')}\n${sum}`,
        json: { ok: broken.length === 0, accounts: verdicts },
        ok: broken.length === 0,
      };
    },
  }),
  defineCommand({
    noun: 'ledger',
    verb: 'show',
    about: 'Shows the statement of an account, newest first.',
    args: { account: required(accountId, 'the account') },
    options: {
      limit: { ...optional(integer('N', 1, PAGE_MAX), 'entries to show'), standard: String(PAGE) },
      before: optional(integer('SEQ', 1, Number.MAX_SAFE_INTEGER), 'only entries with a lower number than this'),
      all: flag('all entries; with --json one document per line'),
    },
    async run({ account, limit: asked, before, all }, { db }) {
      if (all && asked !== undefined) throw new Failure('--all shows every entry: leave out --limit or --all.');
      const limit = asked ?? PAGE;
      const store = await db();
      await existing(store, account);
      if (all) return { lines: (asJson) => statementLines(store, account, before, asJson) };
      const entries = await readStatement(store, account, before ?? Number.MAX_SAFE_INTEGER, limit);
      const rows = entries.map(row);
      const oldest = entries.at(-1)?.seq ?? 1;
      const more = `There are ${oldest - 1} older ones: ledger show ${account} --limit ${limit} --before ${oldest}, or --all.`;
      const none = before === undefined ? 'It has no entries yet.' : `It has none with a number below ${before}.`;
      return {
        text: [table(HEADING, rows, none), ...(oldest === 1 ? [] : [more])].join('\n'),
        json: entries.map(view),
      };
    },
  }),
];

/** Entries read at once with --all. */
const READ_AT_ONCE = 1_000;
const HEADING = ['SEQ', 'TIME', 'AMOUNT', 'BALANCE', 'REASON', 'REFERENCE'];
/** Widths of columns whose entries are not all known when the first line is printed. Longer entries break the alignment. */
const WIDTHS = [9, 24, 9, 11, 12];

async function* statementLines(
  db: Awaited<ReturnType<Context['db']>>,
  account: AccountId,
  below: number | undefined,
  asJson: boolean,
): AsyncGenerator<string> {
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0))
      .join('  ')
      .trimEnd();
  if (!asJson) yield line(HEADING);
  let before = below ?? Number.MAX_SAFE_INTEGER;
  while (before > 1) {
    const entries = await readStatement(db, account, before, READ_AT_ONCE);
    for (const entry of entries) yield asJson ? JSON.stringify(view(entry)) : line(row(entry));
    before = entries.at(-1)?.seq ?? 1;
  }
}

function row({
  seq,
  at,
  amount,
  balanceAfter,
  reason,
  reference,
  schedules = [],
  change,
}: LedgerEntryDocument): string[] {
  const [first, ...others] = schedules;
  const several = first === undefined ? change : `${first} and ${others.length} more schedules (${change})`;
  return [
    String(seq),
    at.toISOString(),
    amount > 0 ? `+${amount}` : String(amount),
    String(balanceAfter),
    reason,
    reference ?? (others.length === 0 ? (first ?? change) : several),
  ];
}

function view(entry: LedgerEntryDocument): unknown {
  const { seq, at, amount, balanceAfter, reason, change, reference, schedules, note, by } = entry;
  return {
    seq,
    at,
    amount,
    balance_after: balanceAfter,
    reason,
    change,
    reference: reference ?? null,
    ...(schedules === undefined ? {} : { schedules }),
    ...(note === undefined ? {} : { note }),
    ...(by === undefined ? {} : { by }),
  };
}
