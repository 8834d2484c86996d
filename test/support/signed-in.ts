import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { ownedBy } from '../../shared/people/erasure.ts';
import { hashSecret } from '../../shared/people/keys/key.ts';
import {
  type Role,
  type SessionDocument,
  USERS_PER_ACCOUNT,
  type UserDocument,
} from '../../shared/people/users/user.ts';
import { takePlace } from '../../shared/platform/mongo/places.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { TEST_BOX } from './chatapp.ts';

/** A browser with its own session: the headers of every request. */
export interface Browser {
  readonly headers: Readonly<Record<string, string>>;
  readonly user: UserDocument;
  readonly session: SessionDocument;
}

/**
 * A user who has signed in, second factor included; without an account an operator:
 *
 *     const owner = await signedIn(db, 'owner', account);
 *     await request(gateway.url).get('/v2/messages').set(owner.headers);
 */
export async function signedIn(
  db: Db,
  role: Role,
  account?: AccountId,
  changed: {
    readonly user?: Partial<UserDocument>;
    readonly session?: Partial<SessionDocument>;
    readonly now?: Date;
  } = {},
): Promise<Browser> {
  const now = changed.now ?? new Date();
  const _id = changed.user?._id ?? newId('usr');
  const made: Omit<UserDocument, 'place'> = {
    ...{ _id, username: `${newId('usr')}@example.com`, role, status: 'active', epoch: 1, createdAt: now },
    ...(account && { account }),
    totp: { seed: TEST_BOX.seal('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', ['users', _id, 'totp.seed']), step: 0, since: now },
    ...changed.user,
  };
  const places = {
    db,
    collection: 'users',
    owner: ownedBy(account),
    most: USERS_PER_ACCOUNT,
  };
  const user = await takePlace(places, async (place) => {
    const placed: UserDocument = { place, ...made };
    await db.collection<UserDocument>('users').insertOne(placed);
    return placed;
  });
  return { user, ...(await newSession(db, user, { madeAt: now, seenAt: now, ...changed.session })) };
}

/** Another session of the user, as of a second browser. */
export async function newSession(
  db: Db,
  user: UserDocument,
  changed: Partial<SessionDocument> = {},
): Promise<Pick<Browser, 'headers' | 'session'>> {
  const secret = randomBytes(32).toString('hex');
  const madeAt = changed.madeAt ?? new Date();
  const session: SessionDocument = {
    _id: newId('ses'),
    secretHash: hashSecret(secret).toString('hex'),
    user: user._id,
    epoch: user.epoch,
    factor: 'totp',
    confirmedAt: madeAt,
    madeAt,
    seenAt: madeAt,
    address: '127.0.0.1',
    agent: 'Test',
    expiresAt: new Date(madeAt.getTime() + 12 * 3_600_000),
    ...changed,
  };
  await db.collection<SessionDocument>('sessions').insertOne(session);
  const cookie = `harkara=${session._id}.${secret}`;
  return { session, headers: { Cookie: cookie, 'X-Dashboard': '1', 'Sec-Fetch-Site': 'same-origin' } };
}
