import type { KeyDocument } from '../../../shared/people/keys/key.ts';
import { isExpired, keyViews } from '../../../shared/people/keys/view.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/** Keys as the API shows them. `prefix` is what a key begins with; people compare it with the one in their settings. */
export async function keyRecords(
  { db, clock }: Pick<GatewayDeps, 'db' | 'clock'>,
  keys: readonly KeyDocument[],
): Promise<object[]> {
  const views = await keyViews(db, clock.now(), keys);
  return keys.map((key, index) => recordOf(key, views[index]));
}

export async function keyRecord(deps: Pick<GatewayDeps, 'db' | 'clock'>, key: KeyDocument): Promise<object> {
  const [record = {}] = await keyRecords(deps, [key]);
  return record;
}

/** A key with those that it made, directly or not. */
export async function keyDetail(
  deps: Pick<GatewayDeps, 'db' | 'clock'>,
  key: KeyDocument,
  descendants: readonly KeyDocument[],
): Promise<object> {
  const now = deps.clock.now();
  return { ...(await keyRecord(deps, key)), descendants: descendants.map((one) => madeRecord(one, now)) };
}

/** What is shown of a key beside the one, or the user, that made it. */
export function madeRecord(key: KeyDocument, now: Date): object {
  return { key_id: key._id, name: key.name, state: isExpired(key, now) ? 'expired' : key.status };
}

function recordOf(key: KeyDocument, view: Awaited<ReturnType<typeof keyViews>>[number] | undefined): object {
  if (view === undefined) return {};
  const { id, status, created_at, expires_at, last_used, ...plain } = view;
  return {
    key_id: id,
    prefix: `hk_live_${id}`,
    state: status,
    ...plain,
    created_at: isoTimestamp(created_at),
    created_by: key.createdBy === undefined ? null : { name: null, ...key.createdBy },
    expires_at: expires_at && isoTimestamp(expires_at),
    last_used: last_used && isoTimestamp(last_used),
    rotated_from: key.rotatedFrom?.key ?? null,
    rotated_to: key.rotatedTo ?? null,
  };
}
