import type { Db } from 'mongodb';
import { findEndpoints } from '../../shared/events/webhooks/endpoint-store.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { findAccount } from '../../shared/money/accounts/store.ts';
import { findKey } from '../../shared/people/keys/store.ts';
import type { AccountId, EndpointId } from '../../shared/platform/runtime/ids.ts';
import { type Context, Failure } from './command.ts';

/** The account. Throws a `Failure` that says how to find the right one. */
export async function existing(db: Db, id: AccountId): Promise<AccountDocument> {
  const found = await findAccount(db, id);
  if (found === undefined) throw new Failure(`There is no account ${id}: \`account list\` shows them.`);
  return found;
}

/** Whose key it is. */
export async function ownerOfKey({ key_id: id }: Readonly<Record<string, unknown>>, { db }: Context) {
  const found = await findKey(await db(), String(id));
  if (found === undefined) throw new Failure(`There is no key ${id}: \`key list <account>\` shows them.`);
  if (found.account === undefined) throw new Failure(`${id} is a key of operators: see \`operator-key --help\`.`);
  return found.account;
}

/** Whose webhook it is. */
export async function ownerOfWebhook({ webhook_id: id }: Readonly<Record<string, unknown>>, { db }: Context) {
  const [found] = await findEndpoints(await db(), [id as EndpointId]); // another text finds nothing
  if (found === undefined) throw new Failure(`There is no webhook ${id}: \`webhook list <account>\` shows them.`);
  return found.account;
}
