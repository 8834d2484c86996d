import { createNewAccount } from '../admin/accounts/create.ts';
import { createCredit } from '../admin/accounts/credit.ts';
import { createAccounts } from '../admin/accounts/list.ts';
import { createAccountStatus } from '../admin/accounts/set-status.ts';
import { createAccountDetail } from '../admin/accounts/show.ts';
import { createAccountStatement } from '../admin/accounts/statement.ts';
import { createUpdateAccount } from '../admin/accounts/update.ts';
import { createDecideSender } from '../admin/approvals/decide-sender.ts';
import { createDecideTemplate } from '../admin/approvals/decide-template.ts';
import { createApprovals } from '../admin/approvals/queue.ts';
import { createAudit } from '../admin/audit.ts';
import { createCarriers } from '../admin/carriers/list.ts';
import { createCarrierStatus } from '../admin/carriers/set-status.ts';
import { createCarrierDetail } from '../admin/carriers/show.ts';
import { createUpdateCarrier } from '../admin/carriers/update.ts';
import { createLedgerCheck, createLedgerChecks, createStartCheck } from '../admin/ledger-checks/ledger-checks.ts';
import { createAddNumber, createNumberList, createRemoveNumber } from '../admin/numbers.ts';
import { createProviderStatus, createProviders } from '../admin/providers.ts';
import { createExplain } from '../admin/routes/explain.ts';
import { createRoutes } from '../admin/routes/list.ts';
import { createPutRoute } from '../admin/routes/put.ts';
import { createRemoveRoute } from '../admin/routes/remove.ts';
import { createOrphans } from '../admin/traffic/orphans.ts';
import { createOperatorsOverview } from '../admin/traffic/overview.ts';
import { createQueues } from '../admin/traffic/queues.ts';
import { createStrays } from '../admin/traffic/strays.ts';
import { createInviteToAccount } from '../admin/users/invite.ts';
import { createAllUsers } from '../admin/users/list.ts';
import {
  createAnyUserLink,
  createEndAnySessions,
  createRemoveAnyFactor,
  createUserStatus,
} from '../admin/users/support.ts';
import { noQuery } from '../http/no-query.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { requireConfirmed as confirmed } from '../sign-in/require-user.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

/** What operators do, over all accounts. Every path begins with /v2/admin/ and needs the scope `admin`. */
export function routeAdmin(on: On, deps: GatewayDeps, parts: Parts): void {
  const { message: body } = parts;
  const operator = keyHandlers(parts)('admin');
  on('/v2/admin/overview', { get: [...operator, noQuery, createOperatorsOverview(deps)] });
  on('/v2/admin/queues', { get: [...operator, noQuery, createQueues(deps)] });
  on('/v2/admin/orphans', { get: [...operator, createOrphans(deps)] });
  on('/v2/admin/strays', { get: [...operator, createStrays(deps)] });
  on('/v2/admin/audit', { get: [...operator, createAudit(deps)] });
  routeAccounts(on, deps, parts);
  routeCarriers(on, deps, parts);
  routeOperatorsUsers(on, deps, parts);
  on('/v2/admin/providers', { get: [...operator, createProviders(deps)] });
  on('/v2/admin/providers/:account_id/status', { post: [...operator, body, createProviderStatus(deps)] });
  on('/v2/admin/numbers', {
    get: [...operator, createNumberList(deps)],
    post: [...operator, body, createAddNumber(deps)],
  });
  on('/v2/admin/numbers/:number', { delete: [...operator, createRemoveNumber(deps)] });
  on('/v2/admin/ledger-checks', {
    get: [...operator, createLedgerChecks(deps)],
    post: [...operator, body, createStartCheck(deps)],
  });
  on('/v2/admin/ledger-checks/:ledger_check_id', { get: [...operator, noQuery, createLedgerCheck(deps)] });
}

function routeAccounts(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message: body } = parts;
  const operator = keyHandlers(parts)('admin');
  on('/v2/admin/accounts', {
    get: [...operator, createAccounts(deps)],
    post: [...operator, confirmed, body, once(createNewAccount(deps))],
  });
  on('/v2/admin/accounts/:account_id', {
    get: [...operator, noQuery, createAccountDetail(deps)],
    patch: [...operator, confirmed, body, createUpdateAccount(deps)],
  });
  on('/v2/admin/accounts/:account_id/status', { post: [...operator, confirmed, body, createAccountStatus(deps)] });
  on('/v2/admin/accounts/:account_id/credits', { post: [...operator, confirmed, body, createCredit(deps)] });
  on('/v2/admin/accounts/:account_id/ledger', { get: [...operator, createAccountStatement(deps)] });
  on('/v2/admin/approvals', { get: [...operator, createApprovals(deps)] });
  on('/v2/admin/accounts/:account_id/senders/:sender/decision', {
    post: [...operator, body, createDecideSender(deps)],
  });
  on('/v2/admin/accounts/:account_id/templates/:template_id/decision', {
    post: [...operator, body, createDecideTemplate(deps)],
  });
}

function routeCarriers(on: On, deps: GatewayDeps, parts: Parts): void {
  const { message: body } = parts;
  const operator = keyHandlers(parts)('admin');
  on('/v2/admin/carriers', { get: [...operator, noQuery, createCarriers(deps)] });
  on('/v2/admin/carriers/:carrier_id', {
    get: [...operator, noQuery, createCarrierDetail(deps)],
    patch: [...operator, confirmed, body, createUpdateCarrier(deps)],
  });
  on('/v2/admin/carriers/:carrier_id/status', { post: [...operator, body, createCarrierStatus(deps)] });
  on('/v2/admin/routes', { get: [...operator, noQuery, createRoutes(deps)] });
  on('/v2/admin/routes/explain', { get: [...operator, createExplain(deps)] });
  on('/v2/admin/routes/:route_id', {
    put: [...operator, body, createPutRoute(deps)],
    delete: [...operator, noQuery, createRemoveRoute(deps)],
  });
}

function routeOperatorsUsers(on: On, deps: GatewayDeps, parts: Parts): void {
  const { message: body, noFields } = parts;
  const operator = keyHandlers(parts)('admin');
  on('/v2/admin/users', {
    get: [...operator, createAllUsers(parts.reading)],
    post: [...operator, confirmed, body, createInviteToAccount(deps)],
  });
  on('/v2/admin/users/:user_id/status', { post: [...operator, confirmed, body, createUserStatus(deps)] });
  on('/v2/admin/users/:user_id/link', { post: [...operator, confirmed, noFields, createAnyUserLink(deps)] });
  on('/v2/admin/users/:user_id/second-factor', {
    delete: [...operator, confirmed, noQuery, createRemoveAnyFactor(deps)],
  });
  on('/v2/admin/users/:user_id/sessions', { delete: [...operator, confirmed, noQuery, createEndAnySessions(deps)] });
}
