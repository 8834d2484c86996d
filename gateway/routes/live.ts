import type { Parts } from '../api/parts.ts';
import { accountSources, operatorSources } from '../endpoints/live/sources.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { keyHandlers, type On } from './route.ts';

/** The streams of live numbers. */
export function routeLive(on: On, { db, clock }: GatewayDeps, parts: Parts): void {
  const key = keyHandlers(parts);
  on('/v2/account/stream', { get: [...key('read'), parts.live.ofAccount(accountSources(db, clock))] });
  on('/v2/admin/stream', { get: [...key('admin:read'), parts.live.ofOperators(operatorSources(db, clock))] });
}
