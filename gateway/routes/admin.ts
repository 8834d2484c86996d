import { requireConfirmed as confirmed } from '../access/require-user.ts';
import { createNewAccount } from '../endpoints/accounts/create.ts';
import { createCredit } from '../endpoints/accounts/credit.ts';
import { createAccounts } from '../endpoints/accounts/list.ts';
import { createAccountStatus } from '../endpoints/accounts/set-status.ts';
import { createAccountDetail } from '../endpoints/accounts/show.ts';
import { createAccountStatement } from '../endpoints/accounts/statement.ts';
import { createUpdateAccount } from '../endpoints/accounts/update.ts';
import { createDecideSender } from '../endpoints/approvals/decide-sender.ts';
import { createDecideTemplate } from '../endpoints/approvals/decide-template.ts';
import { createApprovals } from '../endpoints/approvals/queue.ts';
import { createAudit } from '../endpoints/audit/operators-audit.ts';
import { createCarriers } from '../endpoints/carriers/list.ts';
import { createProviderStatus, createProviders } from '../endpoints/carriers/providers.ts';
import { createCarrierStatus } from '../endpoints/carriers/set-status.ts';
import { createCarrierDetail } from '../endpoints/carriers/show.ts';
import { createUpdateCarrier } from '../endpoints/carriers/update.ts';
import { createLedgerCheck, createLedgerChecks, createStartCheck } from '../endpoints/ledger-checks/ledger-checks.ts';
import { createAddNumber, createNumberList, createRemoveNumber } from '../endpoints/numbers/operators-numbers.ts';
import { createInviteToAccount } from '../endpoints/operators/invite.ts';
import { createAllUsers } from '../endpoints/operators/list.ts';
import {
  createAnyUserLink,
  createEndAnySessions,
  createRemoveAnyFactor,
  createUserStatus,
} from '../endpoints/operators/support.ts';
import { createExplain } from '../endpoints/routes/explain.ts';
import { createRoutes } from '../endpoints/routes/list.ts';
import { createPutRoute } from '../endpoints/routes/put.ts';
import { createRemoveRoute } from '../endpoints/routes/remove.ts';
import { createOrphans } from '../endpoints/traffic/orphans.ts';
import { createOperatorsOverview } from '../endpoints/traffic/overview.ts';
import { createQueues } from '../endpoints/traffic/queues.ts';
import { createStrays } from '../endpoints/traffic/strays.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

/**
 * What operators do, over all accounts. Every path begins with /v2/admin/. What is read needs `admin:read`; every change has the scope
 * of whoever answers for it (docs/decisions/0027). With a link, or without a second factor, one signs in as an owner and spends that
 * account's credits: so `admin:support` alone is not enough for these.
 */
export function routeAdmin(on: On, deps: GatewayDeps, parts: Parts): void {
  const { message: body } = parts;
  const may = keyHandlers(parts);
  on('/v2/admin/overview', { get: [...may('admin:read'), noQuery, createOperatorsOverview(deps)] });
  on('/v2/admin/queues', { get: [...may('admin:read'), noQuery, createQueues(deps)] });
  on('/v2/admin/orphans', { get: [...may('admin:read'), createOrphans(deps)] });
  on('/v2/admin/strays', { get: [...may('admin:read'), createStrays(deps)] });
  on('/v2/admin/audit', { get: [...may('admin:read'), createAudit(deps)] });
  routeAccounts(on, deps, parts);
  routeCarriers(on, deps, parts);
  routeOperatorsUsers(on, deps, parts);
  on('/v2/admin/providers', { get: [...may('admin:read'), createProviders(deps)] });
  on('/v2/admin/providers/:account_id/status', { post: [...may('admin:routing'), body, createProviderStatus(deps)] });
  on('/v2/admin/numbers', {
    get: [...may('admin:read'), createNumberList(deps)],
    post: [...may('admin:routing'), confirmed, body, createAddNumber(deps)],
  });
  on('/v2/admin/numbers/:number', { delete: [...may('admin:routing'), confirmed, createRemoveNumber(deps)] });
  on('/v2/admin/ledger-checks', {
    get: [...may('admin:read'), createLedgerChecks(deps)],
    post: [...may('admin:money'), body, createStartCheck(deps)],
  });
  on('/v2/admin/ledger-checks/:ledger_check_id', { get: [...may('admin:read'), noQuery, createLedgerCheck(deps)] });
}

function routeAccounts(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message: body } = parts;
  const may = keyHandlers(parts);
  on('/v2/admin/accounts', {
    get: [...may('admin:read'), createAccounts(deps)],
    post: [...may('admin:support'), confirmed, body, once(createNewAccount(deps))],
  });
  on('/v2/admin/accounts/:account_id', {
    get: [...may('admin:read'), noQuery, createAccountDetail(deps)],
    patch: [...may('admin:support'), confirmed, body, createUpdateAccount(deps)],
  });
  on('/v2/admin/accounts/:account_id/status', {
    post: [...may('admin:support'), confirmed, body, createAccountStatus(deps)],
  });
  on('/v2/admin/accounts/:account_id/credits', {
    post: [...may('admin:money'), confirmed, body, createCredit(deps)],
  });
  on('/v2/admin/accounts/:account_id/ledger', { get: [...may('admin:read'), createAccountStatement(deps)] });
  on('/v2/admin/approvals', { get: [...may('admin:read'), createApprovals(deps)] });
  on('/v2/admin/accounts/:account_id/senders/:sender/decision', {
    post: [...may('admin:support'), body, createDecideSender(deps)],
  });
  on('/v2/admin/accounts/:account_id/templates/:template_id/decision', {
    post: [...may('admin:support'), body, createDecideTemplate(deps)],
  });
}

function routeCarriers(on: On, deps: GatewayDeps, parts: Parts): void {
  const { message: body } = parts;
  const may = keyHandlers(parts);
  on('/v2/admin/carriers', { get: [...may('admin:read'), noQuery, createCarriers(deps)] });
  on('/v2/admin/carriers/:carrier_id', {
    get: [...may('admin:read'), noQuery, createCarrierDetail(deps)],
    patch: [...may('admin:routing'), confirmed, body, createUpdateCarrier(deps)],
  });
  on('/v2/admin/carriers/:carrier_id/status', { post: [...may('admin:routing'), body, createCarrierStatus(deps)] });
  on('/v2/admin/routes', { get: [...may('admin:read'), noQuery, createRoutes(deps)] });
  on('/v2/admin/routes/explain', { get: [...may('admin:read'), createExplain(deps)] });
  on('/v2/admin/routes/:route_id', {
    put: [...may('admin:routing'), confirmed, body, createPutRoute(deps)],
    delete: [...may('admin:routing'), confirmed, noQuery, createRemoveRoute(deps)],
  });
}

function routeOperatorsUsers(on: On, deps: GatewayDeps, parts: Parts): void {
  const { message: body, noFields } = parts;
  const may = keyHandlers(parts);
  on('/v2/admin/users', {
    get: [...may('admin:read'), createAllUsers(parts.reading)],
    post: [...may(TAKES_OVER), confirmed, body, createInviteToAccount(deps)],
  });
  on('/v2/admin/users/:user_id/status', { post: [...may('admin:support'), confirmed, body, createUserStatus(deps)] });
  on('/v2/admin/users/:user_id/link', { post: [...may(TAKES_OVER), confirmed, noFields, createAnyUserLink(deps)] });
  on('/v2/admin/users/:user_id/second-factor', {
    delete: [...may(TAKES_OVER), confirmed, noQuery, createRemoveAnyFactor(deps)],
  });
  on('/v2/admin/users/:user_id/sessions', {
    delete: [...may('admin:support'), confirmed, noQuery, createEndAnySessions(deps)],
  });
}

/** For whatever lets the operator in as a user of an account. */
const TAKES_OVER = ['admin:support', 'admin:money'] as const;
