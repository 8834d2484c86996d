import { createDecideSender } from '../admin/approvals/decide-sender.ts';
import { createDecideTemplate } from '../admin/approvals/decide-template.ts';
import { createApprovals } from '../admin/approvals/queue.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

/**
 * What operators do, over all accounts. Every path begins with /v2/admin/. What is read needs `admin:read`; every change has the scope
 * of whoever answers for it (docs/decisions/0105).
 */
export function routeAdmin(on: On, deps: GatewayDeps, parts: Parts): void {
  const { message: body } = parts;
  const may = keyHandlers(parts);
  on('/v2/admin/approvals', { get: [...may('admin:read'), createApprovals(deps)] });
  on('/v2/admin/accounts/:account_id/senders/:sender/decision', {
    post: [...may('admin:support'), body, createDecideSender(deps)],
  });
  on('/v2/admin/accounts/:account_id/templates/:template_id/decision', {
    post: [...may('admin:support'), body, createDecideTemplate(deps)],
  });
}
