import { createStatus } from '../endpoints/messages/status.ts';
import { noQuery } from '../http/no-query.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

export function routeSms(on: On, deps: GatewayDeps, parts: Parts): void {
  const key = keyHandlers(parts);
  on('/v2/status/:message_id', { get: [...key('read'), noQuery, createStatus(deps)] });
}
