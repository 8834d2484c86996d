import { BalanceTooLow, changeCredits } from '../../shared/money/ledger/change.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { existing } from './account.ts';
import { operator } from './audited.ts';
import { type Answer, type Command, type Context, defineCommand, Failure } from './command.ts';
import { accountId, integer, line, optional, required, words } from './parameters.ts';

/** Far above any real top-up; sums stay exact in a double. */
const AMOUNT_MAX = 1_000_000_000_000;
/** A top-up's id becomes part of a field name in the account document: no dot, no dollar. */
const topUpId = words('ID', '1 to 64 letters, digits, _ or -', /^[A-Za-z0-9_-]{1,64}$/);

const ID_ABOUT = 'ensures that it happens once, for example an invoice number; default: a new id';
const REASON_ABOUT = 'why; the account reads it in its statement';
const AGAIN =
  'The same --id again for the same account changes nothing. So if you do not know whether it succeeded, repeat it.';

export const CREDITS_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'credits',
    verb: 'top-up',
    about: 'Adds credits to an account, once for each --id.',
    args: {
      account: required(accountId, 'the account'),
      amount: required(integer('AMOUNT', 1, AMOUNT_MAX), 'credits to add'),
    },
    options: { id: optional(topUpId, ID_ABOUT), reason: optional(line, REASON_ABOUT) },
    notes: AGAIN,
    run: ({ account, amount, id, reason }, context) =>
      credited({ verb: 'top-up', account, amount, id, reason }, context),
  }),
  defineCommand({
    noun: 'credits',
    verb: 'correct',
    about: 'Puts a mistake right: adds credits, or takes them away, once for each --id.',
    args: {
      account: required(accountId, 'the account'),
      amount: required(integer('AMOUNT', -AMOUNT_MAX, AMOUNT_MAX), 'credits to add, or a negative amount to take'),
    },
    options: { id: optional(topUpId, ID_ABOUT), reason: required(line, REASON_ABOUT) },
    notes: `${AGAIN} Example: credits correct acc_… -500 --reason 'booked twice'`,
    async run({ account, amount, id, reason }, context) {
      if (amount === 0) throw new Failure('Nothing to correct: the amount is 0.');
      return credited({ verb: 'correct', account, amount, id, reason }, context);
    },
  }),
];

interface Wanted {
  readonly verb: 'top-up' | 'correct';
  readonly account: AccountId;
  readonly amount: number;
  readonly id: string | undefined;
  readonly reason: string | undefined;
}

async function credited(
  { verb, account, amount, id: given, reason }: Wanted,
  { db, tell }: Pick<Context, 'db' | 'tell'>,
): Promise<Answer> {
  const store = await db();
  await existing(store, account);
  const id = given ?? newId('top').slice('top_'.length);
  const noun = verb === 'top-up' ? 'top-up' : 'correction';
  if (given === undefined) tell(`The id of this ${noun} is ${id}. If it is interrupted, repeat it with --id ${id}.`);
  const actor = operator();
  const why = { by: `${actor.kind} ${actor.id}`, ...(reason === undefined ? {} : { note: reason }) };
  const kind = verb === 'top-up' ? 'top_up' : 'correction';
  const done = await changeCredits(store, account, { kind, amount, id, ...why }).catch((error: unknown) => {
    if (error instanceof BalanceTooLow)
      throw new Failure(`Not corrected: the account has ${error.balance} credits, and no more can be taken.`);
    throw new Failure(
      `It is not known whether the credits were ${verb === 'top-up' ? 'added' : 'corrected'} (${error instanceof Error ? error.message : error}). To be sure, run the same command with --id ${id}: it counts once.`,
      { cause: error },
    );
  });
  if (done.kind === 'reused') {
    const other = done.reason === kind ? `, not ${amount}` : `, in a ${verb === 'top-up' ? 'correction' : 'top-up'}`;
    throw new Failure(
      `Nothing added: id ${id} added ${done.entered} credits before${other}. Another ${noun} needs another --id. Balance: ${done.balance}.`,
    );
  }
  const what =
    done.kind === 'applied'
      ? `${amount < 0 ? `Took ${-amount}` : `Added ${amount}`} credits (id ${id}).`
      : `Nothing added: id ${id} was added before.`;
  const { balance } = done;
  return { text: `${what} Balance: ${balance}.`, json: { account, id, amount, kind: done.kind, balance } };
}
