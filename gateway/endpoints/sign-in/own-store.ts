import type { Db } from 'mongodb';
import { changeUser, findUsersByName } from '../../../shared/people/users/store.ts';
import type { SessionDocument, Totp, UserDocument } from '../../../shared/people/users/user.ts';
import type { UserId } from '../../../shared/platform/runtime/ids.ts';

/** Changes that only users make themselves. Each is one update of one document: of two at once, one succeeds. */

const NETWORKS_KEPT = 5;

/** Known browsers of a user. Older ones count as new again. */
const DEVICES_KEPT = 20;

/** Notes the sign-in and its network. A new browser is announced to the user, except at the very first sign-in. */
export async function noteSignIn(
  db: Db,
  user: UserDocument,
  {
    madeAt: at,
    address,
    agent = null,
  }: Pick<SessionDocument, 'madeAt' | 'address'> & { readonly agent?: string | null },
  network: string,
  device: string,
): Promise<void> {
  const { _id, username, networks, devices = [], lastSignInAt } = user;
  if (networks?.at(-1) !== network) await noteNetwork(db, _id, network);
  const signedIn = { $max: { lastSignInAt: at } };
  if (devices.includes(device)) {
    await changeUser(db, { _id }, signedIn);
    return;
  }
  const told = { user_id: _id, username, address, agent };
  const act = { event: 'sign_in.new_device', at, told, about: device };
  const known = { $each: [device], $slice: -DEVICES_KEPT };
  const push = { devices: known, ...(lastSignInAt && { unannounced: act }) };
  await changeUser(db, { _id }, { ...signedIn, $push: push });
}

export async function noteNetwork(db: Db, _id: UserId, network: string): Promise<void> {
  await changeUser(db, { _id }, { $pull: { networks: network } });
  await changeUser(db, { _id }, { $push: { networks: { $each: [network], $slice: -NETWORKS_KEPT } } });
}

/** The stored password of any user of this name; its salt serves all of them. */
export async function passwordLike(db: Db, username: string): Promise<string | undefined> {
  const found = await findUsersByName(db, username);
  return found.find(({ password }) => password !== undefined)?.password;
}

/** Sets the password and ends all sessions. Undefined when the link is spent, void or expired. */
export function spendLink(db: Db, hash: string, password: string, now: Date): Promise<UserDocument | undefined> {
  return changeUser(
    db,
    { 'link.hash': hash, 'link.expiresAt': { $gt: now }, status: { $ne: 'disabled' } },
    { $set: { password, passwordAt: now, status: 'active' }, $unset: { link: '' }, $inc: { epoch: 1 } },
  );
}

/** Replaces the password just shown and voids links. Undefined when it was changed meanwhile. */
export function replacePassword(
  db: Db,
  { _id, password: shown }: UserDocument,
  password: string,
  now: Date,
): Promise<UserDocument | undefined> {
  return changeUser(
    db,
    { _id, password: shown ?? '', status: 'active' },
    { $set: { password, passwordAt: now }, $unset: { link: '' }, $inc: { epoch: 1 } },
  );
}

/** Uses up an authenticator code. False when a code of that or a later time step was used. */
export async function takeStep(db: Db, { _id, totp }: UserDocument, step: number): Promise<boolean> {
  const filter = { _id, 'totp.seed': totp?.seed ?? '', 'totp.step': { $lt: step } };
  return (await changeUser(db, filter, { $set: { 'totp.step': step } })) !== undefined;
}

export async function takeRecoveryCode(db: Db, _id: UserId, hash: string): Promise<boolean> {
  return (await changeUser(db, { _id, recoveryCodes: hash }, { $pull: { recoveryCodes: hash } })) !== undefined;
}

/** Sets the second factor and ends all sessions. Undefined when something else has ended them meanwhile. */
export function putTotp(
  db: Db,
  { _id, epoch }: UserDocument,
  totp: Totp,
  recoveryCodes: readonly string[],
): Promise<UserDocument | undefined> {
  return changeUser(db, { _id, epoch, status: 'active' }, { $set: { totp, recoveryCodes }, $inc: { epoch: 1 } });
}

export function putRecoveryCodes(
  db: Db,
  { _id, epoch }: UserDocument,
  recoveryCodes: readonly string[],
): Promise<UserDocument | undefined> {
  return changeUser(db, { _id, epoch, totp: { $exists: true } }, { $set: { recoveryCodes } });
}
