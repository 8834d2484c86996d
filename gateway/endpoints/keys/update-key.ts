import { BOUND_FIELDS, boundsOf } from '../../../shared/people/keys/bounds.ts';
import { descendantsOf, makerKey } from '../../../shared/people/keys/descendants.ts';
import { findOwnKey, narrowKey, revokeKey, updateKey } from '../../../shared/people/keys/store.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { optional } from '../../http/fields/field.ts';
import { readRequest, request } from '../../http/fields/request.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import { beyondCaller, checkBounds, checkRate, isProblem, lackingScopes, reachOf } from './authority.ts';
import { changeKey, narrowMade, revokeAudited } from './key-changes.ts';
import { allowedIps, KEY_FATES, name, perMinute, scopes } from './key-fields.ts';
import { keyDetail } from './key-record.ts';

export const UPDATE_KEY = request({
  name: optional(name),
  scopes: optional(scopes),
  per_minute: optional(perMinute),
  allowed_ips: optional(allowedIps),
});

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config'>;

/**
 * PATCH /v2/account/keys/{key_id} (extension): what is left out stays. Gateways see the change within 4 s. The key then
 * reaches no farther than who asks, and than the key that made it; the keys that it made are narrowed with it.
 */
export function createUpdateKey(deps: Deps): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const caller = callerOf(res);
    const key = await findOwnKey(db, caller.account._id, String(req.params.key_id));
    if (key === undefined) return sendProblem(res, 'key_not_found');
    const reach = await reachOf(deps, caller);
    if (isProblem(reach)) return sendProblem(res, ...reach);
    const read = await readRequest(UPDATE_KEY, bodyOf(res), { account: caller.account, now: clock.now(), config });
    const { name, scopes, per_minute, allowed_ips } = read.given;
    const change = {
      ...defined({ name }),
      ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
      ...defined({ perMinute: per_minute }),
      ...(allowed_ips === undefined ? {} : { allowedIps: [...new Set(allowed_ips)] }),
    };
    const wanted = { ...boundsOf(key), ...change, ...(allowed_ips?.length === 0 && { allowedIps: undefined }) };
    const lacking = wanted.scopes.filter((scope) => !reach.bounds.scopes.includes(scope));
    const refusal =
      beyondCaller(boundsOf(key), reach.bounds) ?? (lacking.length > 0 ? lackingScopes(lacking) : undefined);
    const maker = await makerKey(db, key);
    if (refusal === undefined) {
      const given = BOUND_FIELDS.filter((field) => field in change);
      checkBounds(wanted, reach.bounds, 'the key that asks', read.problems, given);
      if (maker !== undefined)
        checkBounds(wanted, boundsOf(maker), `${maker._id}, which made it`, read.problems, given);
      await checkRate(deps, caller, { wanted: per_minute, current: key.perMinute }, read.problems);
    }
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    if (key.status === 'revoked') return sendProblem(res, 'key_not_active');
    if (refusal !== undefined) return sendProblem(res, ...refusal);
    const apart = JSON.stringify([change.scopes?.toSorted(), change.allowedIps?.length === 0]);
    const changed = await changeKey(deps, caller, key, 'key.update', () => updateKey(db, key, change), apart);
    if (changed === undefined) return sendProblem(res, 'key_changed');
    // The maker may have been narrowed meanwhile.
    const now = (maker && (await narrowKey(db, key._id, boundsOf((await makerKey(db, key)) ?? maker)))) ?? changed;
    sendJson(res, await keyDetail(deps, now, await narrowMade(deps, caller, now)));
  };
}

/**
 * DELETE /v2/account/keys/{key_id} (extension): revokes the key for good, with `descendants=revoke` also the keys that it made and
 * those that they made. Idempotent.
 */
export function createRevokeKey(deps: Deps): Handler {
  const { db, clock } = deps;
  return async (req, res: Reply) => {
    const caller = callerOf(res);
    const problems = new FieldProblems();
    const query = parseQuery(req, ['descendants'], problems);
    const fate = parseQueryChoice('descendants', query.descendants, KEY_FATES, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const key = await findOwnKey(db, caller.account._id, String(req.params.key_id));
    if (key === undefined) return sendProblem(res, 'key_not_found');
    const reach = await reachOf(deps, caller);
    const refusal = isProblem(reach) ? reach : beyondCaller(boundsOf(key), reach.bounds);
    if (refusal !== undefined) return sendProblem(res, ...refusal);
    const revoked = await changeKey(deps, caller, key, 'key.revoke', () => revokeKey(db, key._id));
    const find = () => descendantsOf(db, key, clock.now());
    const made = fate === 'revoke' ? await revokeAudited(deps, caller, find) : await find();
    sendJson(res, await keyDetail(deps, revoked ?? key, made));
  };
}
