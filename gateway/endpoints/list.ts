import { type Endpoint, endpointsOf } from '../api/endpoint.ts';
import * as accountTemplateImport from './account-templates/import.ts';
import * as accountTemplateRequests from './account-templates/requests.ts';
import * as accountTemplates from './account-templates/templates.ts';
import * as untagged from './account-templates/untagged.ts';
import * as accounts from './accounts/accounts.ts';
import * as credits from './accounts/credits.ts';
import * as ownSettings from './accounts/own-settings.ts';
import * as approvals from './approvals/approvals.ts';
import * as audit from './audit/audit.ts';
import * as batches from './batches/batches.ts';
import * as failures from './batches/failures.ts';
import * as carrierCallback from './carrier-callbacks/callback.ts';
import * as carriers from './carriers/carriers.ts';
import * as chains from './carriers/chains.ts';
import * as newCarrier from './carriers/new-carrier.ts';
import * as testBind from './carriers/test-bind.ts';
import * as chatTemplateRequests from './chat-templates/requests.ts';
import * as chatTemplates from './chat-templates/templates.ts';
import * as freeForm from './chatapp/free-form.ts';
import * as getMedia from './chatapp/get-media.ts';
import * as chatappNumbers from './chatapp/numbers.ts';
import * as placesAndPeople from './chatapp/places-and-people.ts';
import * as received from './chatapp/received.ts';
import * as sendInteractive from './chatapp/send-interactive.ts';
import * as sendTemplate from './chatapp/send-template.ts';
import * as webhook from './chatapp/webhook.ts';
import * as chatappCallback from './chatapp-callbacks/callback.ts';
import * as ctas from './ctas/ctas.ts';
import * as ctaImport from './ctas/import.ts';
import * as docs from './docs/docs.ts';
import * as erasures from './erasures/erasures.ts';
import * as exports from './exports/exports.ts';
import * as health from './health/health.ts';
import * as inbox from './inbox/inbox.ts';
import * as inboxMessages from './inbox/messages.ts';
import * as keys from './keys/keys.ts';
import * as ledger from './ledger/ledger.ts';
import * as limits from './limits/limits.ts';
import * as live from './live/live.ts';
import * as events from './messages/events.ts';
import * as messages from './messages/messages.ts';
import * as status from './messages/status.ts';
import * as numbers from './numbers/numbers.ts';
import * as operatorMail from './operators/mail.ts';
import * as operatorMessages from './operators/messages.ts';
import * as operatorNumbers from './operators/numbers.ts';
import * as operatorUsers from './operators/users.ts';
import * as optIns from './opt-ins/opt-ins.ts';
import * as prices from './prices/prices.ts';
import * as changeProvider from './providers/change-provider.ts';
import * as priceList from './providers/price-list.ts';
import * as providers from './providers/providers.ts';
import * as reports from './reports/reports.ts';
import * as routes from './routing/routes.ts';
import * as schedules from './schedules/schedules.ts';
import * as senders from './senders/senders.ts';
import * as confirm from './sign-in/confirm.ts';
import * as link from './sign-in/link.ts';
import * as profile from './sign-in/profile.ts';
import * as secondFactor from './sign-in/second-factor.ts';
import * as signIn from './sign-in/session.ts';
import * as smsAccount from './sms/account.ts';
import * as schedule from './sms/schedule.ts';
import * as send from './sms/send.ts';
import * as sendBulk from './sms/send-bulk.ts';
import * as statements from './statements/statements.ts';
import * as charts from './statistics/charts.ts';
import * as overview from './statistics/overview.ts';
import * as statistics from './statistics/statistics.ts';
import * as conditions from './traffic/conditions.ts';
import * as trafficOverview from './traffic/overview.ts';
import * as unclaimed from './traffic/unclaimed.ts';
import * as changeUser from './users/change-user.ts';
import * as users from './users/users.ts';
import * as verifications from './verify/verifications.ts';
import * as verify from './verify/verify.ts';
import * as deliveries from './webhooks/deliveries.ts';
import * as replays from './webhooks/replays.ts';
import * as testEvent from './webhooks/test-event.ts';
import * as webhooks from './webhooks/webhooks.ts';

/**
 * The files of all endpoints, in the document's order. The router tries them in this order, so the busiest come first,
 * and fixed paths come before ones with a parameter in the same place.
 */
const FILES = [
  send,
  status,
  sendBulk,
  schedule,
  verify,
  smsAccount,
  messages,
  events,
  batches,
  failures,
  schedules,
  verifications,
  overview,
  prices,
  statements,
  reports,
  statistics,
  inbox,
  inboxMessages,
  live,
  exports,
  ledger,
  erasures,
  numbers,
  audit,
  sendTemplate,
  freeForm,
  sendInteractive,
  placesAndPeople,
  received,
  chatappNumbers,
  getMedia,
  webhook,
  chatappCallback,
  carrierCallback,
  accountTemplates,
  accountTemplateImport,
  accountTemplateRequests,
  untagged,
  chatTemplates,
  chatTemplateRequests,
  senders,
  ctaImport,
  ctas,
  keys,
  limits,
  webhooks,
  testEvent,
  deliveries,
  replays,
  trafficOverview,
  conditions,
  charts,
  unclaimed,
  operatorMessages,
  accounts,
  credits,
  approvals,
  testBind,
  carriers,
  newCarrier,
  chains,
  routes,
  providers,
  changeProvider,
  priceList,
  optIns,
  operatorNumbers,
  operatorMail,
  operatorUsers,
  health,
  docs,
  users,
  changeUser,
  ownSettings,
  signIn,
  confirm,
  link,
  profile,
  secondFactor,
];

export const ENDPOINTS: readonly Endpoint[] = FILES.flatMap(endpointsOf);
