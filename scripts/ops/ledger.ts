import { listAccounts } from '../../shared/money/accounts/store.ts';
import { type LedgerVerdict, verifyLedger } from '../../shared/money/ledger/verify.ts';
import { table } from './answer-text.ts';
import { accountId, type Command, defineCommand, optional } from './command.ts';
import { existing } from './owners.ts';

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
          : `${broken.length} of ${verdicts.length} ledgers ARE BROKEN. CHAIN says where: look at the entries around it (credits list), and back up the store before you correct anything.`;
      return {
        text: `${table(['ACCOUNT', 'ENTRIES', 'BALANCE', 'CHAIN'], rows, 'There are no accounts yet.')}\n${sum}`,
        json: { ok: broken.length === 0, accounts: verdicts },
        ok: broken.length === 0,
      };
    },
  }),
];
