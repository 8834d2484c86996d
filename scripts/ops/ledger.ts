import { listAccounts } from '../../shared/accounts/store.ts';
import { readStatement } from '../../shared/credits/statement.ts';
import { type LedgerVerdict, verifyLedger } from '../../shared/credits/verify.ts';
import { existing } from './account.ts';
import { type Command, defineCommand } from './command.ts';
import { accountId, integer, optional, required, withDefault } from './parameters.ts';
import { table } from './show.ts';

export const LEDGER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'ledger',
    verb: 'verify',
    about: 'Proves that every change of a balance is in the ledger, without a gap.',
    args: {},
    options: { account: optional(accountId, 'only this one; all, unless given') },
    notes: 'True at any moment, also while messages flow. Exit code 1 when a chain is broken.',
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
          : `${broken.length} of ${verdicts.length} ledgers ARE BROKEN.`;
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
    options: { limit: withDefault(integer('N', 1, 10_000), '20', 'entries to show') },
    async run({ account, limit }, { db }) {
      const store = await db();
      await existing(store, account);
      const entries = await readStatement(store, account, Number.MAX_SAFE_INTEGER, limit);
      const rows = entries.map((entry) => [
        String(entry.seq),
        entry.at.toISOString(),
        entry.amount > 0 ? `+${entry.amount}` : String(entry.amount),
        String(entry.balanceAfter),
        entry.reason,
        entry.reference ?? entry.change,
      ]);
      return {
        text: table(['SEQ', 'TIME', 'AMOUNT', 'BALANCE', 'REASON', 'REFERENCE'], rows, 'It has no entries yet.'),
        json: entries.map(({ seq, at, amount, balanceAfter, reason, change, reference }) => ({
          seq,
          at,
          amount,
          balance_after: balanceAfter,
          reason,
          change,
          reference: reference ?? null,
        })),
      };
    },
  }),
];
