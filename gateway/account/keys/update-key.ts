import type { KeyDocument } from '../../../shared/keys/key.ts';
import { findOwnKey, revokeKey, updateKey } from '../../../shared/keys/store.ts';
import { optional } from '../../fields/field.ts';
import { readRequest, request, whole } from '../../fields/request.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { beyondCaller, checkRate } from './authority.ts';
import { allowedIps, name, perMinute, scopes } from './key-fields.ts';
import { keyRecord } from './key-record.ts';

export const UPDATE_KEY = request({
  name: optional(name),
  scopes: optional(scopes),
  per_minute: optional(perMinute),
  allowed_ips: optional(allowedIps),
});

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config'>;

/** PATCH /v2/account/keys/{key_id} (extension): what is left out stays. Gateways see the change within `KEY_CACHE_MS`. */
export function createUpdateKey(deps: Deps): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const caller = callerOf(res);
    const key = await findOwnKey(db, caller.account._id, String(req.params.key_id));
    if (key === undefined) return sendProblem(res, 'key_not_found');
    const read = await readRequest(UPDATE_KEY, bodyOf(res), { account: caller.account, now: clock.now(), config });
    await checkRate(deps, caller, { wanted: read.given.per_minute, current: key.perMinute }, read.problems);
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    if (key.status === 'revoked') return sendProblem(res, 'key_not_active');
    const { name, scopes, per_minute, allowed_ips } = whole(read);
    const refusal = beyondCaller(caller, [...key.scopes, ...(scopes ?? [])]);
    if (refusal !== undefined) return sendProblem(res, ...refusal);
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
      ...(per_minute === undefined ? {} : { perMinute: per_minute }),
      ...(allowed_ips === undefined ? {} : { allowedIps: [...new Set(allowed_ips)] }),
    };
    const apart = JSON.stringify([change.scopes?.toSorted(), change.allowedIps?.length === 0]);
    const changed = await changeKey(deps, res, key, { action: 'key.update', apart }, () =>
      updateKey(db, key._id, change),
    );
    sendJson(res, await keyRecord(deps, changed));
  };
}

/** DELETE /v2/account/keys/{key_id} (extension): revokes the key for good. Idempotent. */
export function createRevokeKey(deps: Deps): Handler {
  const { db } = deps;
  return async (req, res: Reply) => {
    const key = await findOwnKey(db, callerOf(res).account._id, String(req.params.key_id));
    if (key === undefined) return sendProblem(res, 'key_not_found');
    const revoked = await changeKey(deps, res, key, { action: 'key.revoke' }, () => revokeKey(db, key._id));
    sendJson(res, await keyRecord(deps, revoked));
  };
}

/** Makes the change of a key and answers with the key as it is then. Keys are never removed, so it is still there. */
function changeKey(
  deps: Deps,
  res: Reply,
  key: KeyDocument,
  { action, apart = '' }: { readonly action: string; readonly apart?: string },
  change: () => Promise<unknown>,
): Promise<KeyDocument> {
  return changeAudited(deps, callerOf(res), {
    action,
    apart,
    subject: { kind: 'key', id: key._id },
    read: async () => key,
    make: async () => {
      await change();
      return (await findOwnKey(deps.db, callerOf(res).account._id, key._id)) ?? key;
    },
    madeOf: (made) => made,
    isRefusal: () => false,
  });
}
