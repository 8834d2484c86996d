import { topUp } from '../../shared/ledger/change.ts';
import { newId } from '../../shared/runtime/ids.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, integer, optional, required, words } from './parameters.ts';

/** Far above any real top-up; sums stay exact in a double. */
const AMOUNT_MAX = 1_000_000_000_000;
/** It becomes part of a field name in the account document: no dot, no dollar. */
const topUpId = words('ID', '1 to 64 letters, digits, _ or -', /^[A-Za-z0-9_-]{1,64}$/);

export const CREDITS_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'credits',
    verb: 'top-up',
    about: 'Adds credits to an account, once for each --id.',
    args: {
      account: required(accountId, 'the account'),
      amount: required(integer('AMOUNT', 1, AMOUNT_MAX), 'credits to add'),
    },
    options: {
      id: optional(topUpId, 'ensures that the top-up happens once, for example an invoice number; default: a new id'),
    },
    notes:
      'The same --id again for the same account changes nothing. So if you do not know whether a top-up succeeded, repeat it.',
    async run({ account, amount, id: given }, { db }) {
      const store = await db();
      await existing(store, account);
      const id = given ?? newId('top').slice('top_'.length);
      const done = await topUp(store, account, amount, id).catch((error: unknown) => {
        throw new Failure(
          `It is not known whether the credits were added (${error instanceof Error ? error.message : error}). To be sure, run: npm run ops -- credits top-up ${account} ${amount} --id ${id}`,
          { cause: error },
        );
      });
      if (done.added !== undefined && done.added !== amount) {
        throw new Failure(
          `Nothing added: id ${id} added ${done.added} credits before, not ${amount}. Another top-up needs another --id. Balance: ${done.balance}.`,
        );
      }
      const what =
        done.kind === 'applied' ? `Added ${amount} credits (id ${id}).` : `Nothing added: id ${id} was added before.`;
      const { kind, balance } = done;
      return { text: `${what} Balance: ${balance}.`, json: { account, id, amount, kind, balance } };
    },
  }),
];
