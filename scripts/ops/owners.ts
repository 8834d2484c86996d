import type { Db } from 'mongodb';
import { findEndpoints } from '../../shared/events/webhooks/endpoint-store.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { findAccount } from '../../shared/money/accounts/store.ts';
import { findKey } from '../../shared/people/keys/store.ts';
import { findUsersByName } from '../../shared/people/users/store.ts';
import { canonicalUsername, OPERATORS, type UserDocument } from '../../shared/people/users/user.ts';
import type { AccountId, EndpointId } from '../../shared/platform/runtime/ids.ts';
import { accountId, type Context, Failure, flag, optional, required } from './command.ts';

/** Finds the account or user that a command's words mean, or the owner of a thing. */

/** Throws a `Failure` that says how to find the right account. */
export async function existing(db: Db, id: AccountId): Promise<AccountDocument> {
  const found = await findAccount(db, id);
  if (found === undefined) throw new Failure(`There is no account ${id}: \`account list\` shows them.`);
  return found;
}

export async function ownerOfKey({ key_id: id }: Readonly<Record<string, unknown>>, { db }: Context) {
  const found = await findKey(await db(), String(id));
  if (found === undefined) throw new Failure(`There is no key ${id}: \`key list <account>\` shows them.`);
  if (found.account === undefined) throw new Failure(`${id} is a key of operators: see \`operator-key --help\`.`);
  return found.account;
}

export async function ownerOfWebhook({ webhook_id: id }: Readonly<Record<string, unknown>>, { db }: Context) {
  const [found] = await findEndpoints(await db(), [id as EndpointId]); // finds nothing for a text that is no id
  if (found === undefined) throw new Failure(`There is no webhook ${id}: \`webhook list <account>\` shows them.`);
  return found.account;
}

const username = required(
  {
    value: 'NAME',
    form: 'a sign-in name: 3 to 254 letters, digits and the signs . _ % + - @',
    parse: canonicalUsername,
  },
  'what the user signs in with, usually an e-mail address',
);

export const NAMED_USER = {
  username,
  account: optional(accountId, 'of which account, when several have a user of that name'),
  operator: flag('the operator of that name'),
};

interface Words {
  readonly username?: unknown;
  readonly account?: unknown;
  readonly operator?: unknown;
}

export async function existingUser(db: Db, words: Words): Promise<UserDocument> {
  const found = await named(db, words);
  const [user, another] = found;
  if (user === undefined)
    throw new Failure(
      `Nobody signs in as ${words.username}: \`user list --account acc_…\` shows who does, and \`user list\` the operators.`,
    );
  if (another === undefined) return user;
  const ways = found.map((one) => (one.account === undefined ? '--operator' : `--account ${one.account}`));
  throw new Failure(`Several users sign in as ${words.username}. Say which one: ${ways.join(', or ')}.`);
}

/** The only user that matches; undefined for none or several. */
export async function theUser(db: Db, words: Words): Promise<UserDocument | undefined> {
  const [user, another] = await named(db, words);
  return another === undefined ? user : undefined;
}

function named(db: Db, { username, account, operator }: Words): Promise<readonly UserDocument[]> {
  const where = operator === true ? OPERATORS : account === undefined ? undefined : String(account);
  return findUsersByName(db, String(username), where);
}
