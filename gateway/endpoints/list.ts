import type { Endpoint } from '../api/endpoint.ts';
import { importTemplates } from './account-templates/import.ts';
import { changeTemplate, removeTemplate, requestTemplate } from './account-templates/requests.ts';
import { untaggedTemplate, untaggedTemplates } from './account-templates/tags/untagged.ts';
import { accountTemplates, checkTemplate } from './account-templates/templates.ts';
import {
  changeAccount,
  changeAccountStatus,
  closeAccountForGood,
  listAccounts,
  newAccount,
  showAccount,
} from './accounts/accounts.ts';
import { accountLedger, creditAccount } from './accounts/credits.ts';
import { changeOwnSettings, ownSettings } from './accounts/own-settings.ts';
import { approvals } from './approvals/approvals.ts';
import { giveSender, senderDecision, templateDecision } from './approvals/decisions.ts';
import { audit } from './audit/audit.ts';
import { batch, batches, stopBatch } from './batches/batches.ts';
import { batchFailures } from './batches/failures.ts';
import { carrierCallback } from './carrier-callbacks/callback.ts';
import { changeCarrier, changeCarrierStatus, listCarriers, showCarrier } from './carriers/carriers.ts';
import { chains, putChain, takeChain } from './carriers/chains.ts';
import { carrierForm, newCarrier, takeCarrier } from './carriers/new-carrier.ts';
import { testBind } from './carriers/test-bind.ts';
import { editChatTemplate, removeChatTemplate, requestChatTemplate } from './chat-templates/requests.ts';
import { ownChatTemplates } from './chat-templates/templates.ts';
import { chatappSendButtons, chatappSendMedia, chatappSendText } from './chatapp/free-form.ts';
import { chatappRead } from './chatapp/mark-read.ts';
import { chatappMedia } from './chatapp/media/get-media.ts';
import { chatNumbers } from './chatapp/numbers.ts';
import { chatappSendContacts, chatappSendLocation } from './chatapp/places-and-people.ts';
import { chatappSendInteractive } from './chatapp/send-interactive.ts';
import { chatappSendReaction } from './chatapp/send-reaction.ts';
import { chatappSend } from './chatapp/send-template.ts';
import { chatappTemplates } from './chatapp/templates.ts';
import { chatappTestReceived } from './chatapp/test-received.ts';
import { chatappWebhook } from './chatapp/webhook.ts';
import { chatappCallback, chatappCallbackVerify } from './chatapp-callbacks/callback.ts';
import { ctaDecision, ctas, giveCta, removeOwnCta, requestCta } from './ctas/ctas.ts';
import { importCtasFor, importOwnCtas } from './ctas/import.ts';
import { docs, llms, openapi } from './docs/docs.ts';
import { erase, eraseEverywhere, erasures, erasuresEverywhere } from './erasures/erasures.ts';
import { dropExport, exportCsv, exportList, showExport, startExport } from './exports/exports.ts';
import { healthz, readyz } from './health/health.ts';
import { inbox, marketingStops } from './inbox/inbox.ts';
import { inboxThread, receivedSms } from './inbox/messages.ts';
import { createKey, keys, revoke, rotateKey, showKey, updateKey } from './keys/keys.ts';
import { ledger, ledgerCsv } from './ledger/ledger.ts';
import { listLedgerChecks, showLedgerCheck, startLedgerCheck } from './ledger-checks/ledger-checks.ts';
import {
  accountLimits,
  operatorLimits,
  releaseAnyHold,
  releaseOwnHold,
  setCapsOfKey,
  setLimits,
} from './limits/limits.ts';
import { accountStream, adminStream } from './live/streams.ts';
import { events } from './messages/events.ts';
import { message, messages } from './messages/messages.ts';
import { status } from './messages/status.ts';
import { numbers } from './numbers/numbers.ts';
import { addOptOut, optOuts, removeOptOut } from './numbers/opt-outs.ts';
import { auditOfAll } from './operators/audit.ts';
import { mails } from './operators/mail.ts';
import { findMessage, findMessages } from './operators/messages.ts';
import { giveNumber, numbersOfAll, takeNumber } from './operators/numbers.ts';
import {
  anyUserLink,
  anyUsers,
  changeUserStatus,
  endAnySessions,
  inviteToAccount,
  removeAnyFactor,
} from './operators/users.ts';
import { addToOptIns, optIns, takeOptIn } from './opt-ins/opt-ins.ts';
import { accountPrices, changePrices, operatorPrices } from './prices/prices.ts';
import { changeProvider } from './providers/change-provider.ts';
import { providerPrices, setProviderPrices } from './providers/price-list.ts';
import {
  changeProviderStatus,
  deleteProvider,
  makeProviderDefault,
  providers,
  showProvider,
} from './providers/providers.ts';
import { testProvider } from './providers/test-send.ts';
import { conversationLosses } from './reports/losses.ts';
import { accountReports, adminReports } from './reports/reports.ts';
import { explain, putRoute, routes, takeRoute } from './routing/routes.ts';
import { cancelSchedule, scheduleState, schedules } from './schedules/schedules.ts';
import { removeSender, requestSender, senders } from './senders/senders.ts';
import { confirmSession } from './sign-in/confirm.ts';
import { lookAtLink, useLink } from './sign-in/link.ts';
import { chooseNotices, ownNotices } from './sign-in/notices.ts';
import { endOtherSessions, endOwnSession, ownSessions } from './sign-in/own-sessions.ts';
import { changePassword, changeProfile, profile } from './sign-in/profile.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  newRecoveryCodes,
  removeSecondFactor,
} from './sign-in/second-factor.ts';
import { ownSession, signIn, signOut } from './sign-in/session.ts';
import { balance, templates } from './sms/account.ts';
import { resend } from './sms/resend.ts';
import { schedule } from './sms/schedule.ts';
import { send } from './sms/send.ts';
import { sendBulk } from './sms/send-bulk.ts';
import { accountStatement, adminStatement } from './statements/statements.ts';
import { operatorCharts } from './statistics/charts.ts';
import { changeLowBalance, lowBalance } from './statistics/low-balance.ts';
import { accountOverview } from './statistics/overview.ts';
import { accountStatistics } from './statistics/statistics.ts';
import { operatorStatus } from './traffic/conditions.ts';
import { operatorOverview, operatorQueues } from './traffic/overview.ts';
import { unassignedSms, unmatchedReceipts } from './traffic/unclaimed.ts';
import {
  changeUser,
  endUserSessions,
  removeUser,
  removeUserSecondFactor,
  showUser,
  userLink,
} from './users/change-user.ts';
import { changeSignInRules, signInRules } from './users/sign-in-rules.ts';
import { invite, users } from './users/users.ts';
import { verifyCheck } from './verify/check.ts';
import { verification, verificationRates, verifications } from './verify/verifications.ts';
import { verify } from './verify/verify.ts';
import { deliveries, replayOne, showDelivery } from './webhooks/deliveries.ts';
import { replays, showReplay, startedReplay } from './webhooks/replays.ts';
import {
  createWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhookSecret,
  showWebhook,
  testWebhook,
  updateWebhook,
  webhookEvents,
} from './webhooks/webhooks.ts';

/** All endpoints, in the order of the document. The router tries them in this order too, so the busiest come first. */
export const ENDPOINTS: readonly Endpoint[] = [
  send,
  status,
  sendBulk,
  schedule,
  verify,
  verifyCheck,
  balance,
  templates,
  messages,
  message,
  resend,
  events,
  batches,
  batch,
  stopBatch,
  batchFailures,
  schedules,
  verifications,
  verification,
  verificationRates,
  scheduleState,
  cancelSchedule,
  accountOverview,
  accountPrices,
  operatorPrices,
  changePrices,
  accountStatement,
  adminStatement,
  accountReports,
  accountStatistics,
  lowBalance,
  changeLowBalance,
  inbox,
  marketingStops,
  inboxThread,
  receivedSms,
  accountStream,
  startExport,
  exportList,
  showExport,
  exportCsv,
  dropExport,
  ledger,
  ledgerCsv,
  optOuts,
  addOptOut,
  removeOptOut,
  erasures,
  erase,
  numbers,
  audit,
  chatappSend,
  chatappSendText,
  chatappSendMedia,
  chatappSendButtons,
  chatappSendInteractive,
  chatappSendLocation,
  chatappSendContacts,
  chatappSendReaction,
  chatappRead,
  chatappTestReceived,
  chatappTemplates,
  chatNumbers,
  chatappMedia,
  chatappWebhook,
  chatappCallbackVerify,
  chatappCallback,
  carrierCallback,
  accountTemplates,
  requestTemplate,
  checkTemplate,
  importTemplates,
  untaggedTemplates,
  untaggedTemplate,
  changeTemplate,
  removeTemplate,
  ownChatTemplates,
  requestChatTemplate,
  editChatTemplate,
  removeChatTemplate,
  senders,
  requestSender,
  removeSender,
  ctas,
  requestCta,
  importOwnCtas,
  removeOwnCta,
  keys,
  createKey,
  showKey,
  setCapsOfKey,
  accountLimits,
  releaseOwnHold,
  updateKey,
  revoke,
  rotateKey,
  webhookEvents,
  listWebhooks,
  createWebhook,
  showWebhook,
  updateWebhook,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
  deliveries,
  showDelivery,
  replayOne,
  replays,
  startedReplay,
  showReplay,
  adminReports,
  conversationLosses,
  operatorOverview,
  operatorStatus,
  operatorCharts,
  adminStream,
  operatorQueues,
  unmatchedReceipts,
  unassignedSms,
  auditOfAll,
  findMessages,
  findMessage,
  listAccounts,
  newAccount,
  showAccount,
  changeAccount,
  changeAccountStatus,
  closeAccountForGood,
  erasuresEverywhere,
  eraseEverywhere,
  operatorLimits,
  setLimits,
  releaseAnyHold,
  creditAccount,
  accountLedger,
  approvals,
  giveSender,
  senderDecision,
  giveCta,
  ctaDecision,
  importCtasFor,
  templateDecision,
  listCarriers,
  newCarrier,
  testBind,
  carrierForm,
  showCarrier,
  changeCarrier,
  takeCarrier,
  changeCarrierStatus,
  chains,
  putChain,
  takeChain,
  routes,
  explain,
  putRoute,
  takeRoute,
  providers,
  showProvider,
  changeProvider,
  changeProviderStatus,
  makeProviderDefault,
  deleteProvider,
  testProvider,
  providerPrices,
  setProviderPrices,
  optIns,
  addToOptIns,
  takeOptIn,
  numbersOfAll,
  giveNumber,
  takeNumber,
  listLedgerChecks,
  startLedgerCheck,
  showLedgerCheck,
  mails,
  anyUsers,
  inviteToAccount,
  changeUserStatus,
  anyUserLink,
  removeAnyFactor,
  endAnySessions,
  healthz,
  readyz,
  docs,
  openapi,
  llms,
  users,
  invite,
  showUser,
  changeUser,
  removeUser,
  userLink,
  removeUserSecondFactor,
  endUserSessions,
  signInRules,
  changeSignInRules,
  ownSettings,
  changeOwnSettings,
  signIn,
  ownSession,
  signOut,
  confirmSession,
  lookAtLink,
  useLink,
  profile,
  changeProfile,
  ownNotices,
  chooseNotices,
  changePassword,
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  newRecoveryCodes,
  ownSessions,
  endOtherSessions,
  endOwnSession,
];
