import type { Db } from 'mongodb';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { linkUrl } from '../../shared/people/users/link.ts';
import { enableUser, findUsersByName, inviteUser, makeLink } from '../../shared/people/users/store.ts';
import type { Config } from '../../shared/platform/config/settings.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';

const USERNAME = 'demo@example.com';

export interface DemoOwner {
  readonly username: string;
  readonly hasPassword: boolean;
  /** A one-time link to choose a password. */
  readonly link: string;
}

/**
 * Creates the owner of the demo account if there is none, and at every start a new one-time link for the owner; there is no
 * default password. Of all accounts, only this one lets its owner do without a second factor.
 */
export async function seedOwner(db: Db, clock: Clock, account: AccountId, config: Config): Promise<DemoOwner> {
  await db
    .collection<AccountDocument>('accounts')
    .updateOne({ _id: account, secondFactor: { $exists: false } }, { $set: { secondFactor: 'exempt' } });
  const [found] = await findUsersByName(db, USERNAME, account);
  if (found === undefined) {
    const { token } = await inviteUser(db, clock.now(), { username: USERNAME, account, role: 'owner' });
    return { username: USERNAME, hasPassword: false, link: linkUrl(config, token) };
  }
  if (found.status === 'disabled') await enableUser(db, found._id);
  const made = await makeLink(db, clock.now(), found);
  if (made === undefined) throw new Error(`${USERNAME} was disabled just now`);
  return { username: USERNAME, hasPassword: found.password !== undefined, link: linkUrl(config, made.token) };
}
