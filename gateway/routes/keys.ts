import { createCost } from '../access/cost.ts';
import { requireConfirmed as confirmed } from '../access/require-user.ts';
import { createKeyCreation } from '../endpoints/keys/create-key.ts';
import { createKeys, createShowKey } from '../endpoints/keys/list-keys.ts';
import { createKeyRotation } from '../endpoints/keys/rotate-key.ts';
import { createRevokeKey, createUpdateKey } from '../endpoints/keys/update-key.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

/** A new key counts as this many requests, so that nobody makes them by the thousand: 20 a minute. */
const NEW_KEY_COST = 50;

export function routeKeys(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, reading, charge } = parts;
  const key = keyHandlers(parts);
  const costly = createCost(charge, NEW_KEY_COST);
  on('/v2/account/keys', {
    get: [...key('read', 'manage'), createKeys(reading)],
    post: [...key('manage'), confirmed, costly, message, once(createKeyCreation(deps))],
  });
  on('/v2/account/keys/:key_id', {
    get: [...key('read', 'manage'), noQuery, createShowKey(reading)],
    patch: [...key('manage'), confirmed, message, createUpdateKey(deps)],
    delete: [...key('manage'), createRevokeKey(deps)],
  });
  on('/v2/account/keys/:key_id/rotate', {
    post: [...key('manage'), confirmed, costly, message, once(createKeyRotation(deps))],
  });
}
