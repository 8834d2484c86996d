import { boundsOf } from '../../../shared/people/keys/bounds.ts';
import type { KeyDocument } from '../../../shared/people/keys/key.ts';
import { findKeys, narrowKey, revokeKey } from '../../../shared/people/keys/store.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Requester } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { narrowDescendants, revokeEach } from './descendants.ts';

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config'>;

/** Makes a change of a key and records it in the audit. Resolves as `change` does: undefined when nothing was changed. */
export function changeKey(
  deps: Deps,
  requester: Requester,
  key: KeyDocument,
  action: string,
  change: () => Promise<KeyDocument | undefined>,
  apart = '',
): Promise<KeyDocument | undefined> {
  return changeAudited(deps, requester, {
    action,
    apart,
    subject: { kind: 'key', id: key._id },
    ...(key.account && { account: key.account }),
    read: async () => key,
    make: change,
    madeOf: (made) => made,
    isRefusal: () => false,
  });
}

/** Keeps the keys that this one made, directly or not, inside it. Returns those that worked, as they are now. */
export async function narrowMade(deps: Deps, requester: Requester, key: KeyDocument): Promise<readonly KeyDocument[]> {
  const { db, clock } = deps;
  const made = await narrowDescendants(db, key, clock, (one) =>
    changeKey(deps, requester, one, 'key.narrow', () => narrowKey(db, one._id, boundsOf(key))),
  );
  return asTheyAre(deps, made);
}

/** Revokes the keys that `find` finds, until it finds none. Returns them. */
export async function revokeAudited(
  deps: Deps,
  requester: Requester,
  find: () => Promise<readonly KeyDocument[]>,
): Promise<readonly KeyDocument[]> {
  const revoke = (key: KeyDocument) => changeKey(deps, requester, key, 'key.revoke', () => revokeKey(deps.db, key._id));
  return asTheyAre(deps, await revokeEach(find, revoke));
}

async function asTheyAre({ db }: Deps, keys: readonly KeyDocument[]): Promise<readonly KeyDocument[]> {
  const ids = keys.map(({ _id }) => _id);
  const now = new Map((await findKeys(db, ids)).map((key) => [key._id, key]));
  return keys.map((key) => now.get(key._id) ?? key);
}
