import { AccountSettingsPage } from './pages/account/account.tsx';
import { AuditPage, OperatorsAuditPage } from './pages/audit/audit.tsx';
import { BatchesPage } from './pages/batches/batches.tsx';
import { BatchPage } from './pages/batches/show-batch.tsx';
import { CreditsPage } from './pages/credits/credits.tsx';
import { AdminStatementPage, StatementPage } from './pages/credits/statement-page.tsx';
import { CtasPage } from './pages/ctas/ctas.tsx';
import { ErasuresPage, OperatorErasuresPage } from './pages/erasures/erasures.tsx';
import { ConversationPage } from './pages/inbox/conversation.tsx';
import { InboxPage, ReceivedSmsPage } from './pages/inbox/inbox.tsx';
import { KeysPage } from './pages/keys/keys.tsx';
import { LimitsPage } from './pages/limits/limits.tsx';
import { MessagesPage } from './pages/messages/messages.tsx';
import { MessagePage } from './pages/messages/show-message.tsx';
import { NumbersPage } from './pages/numbers/numbers.tsx';
import { AccountPage } from './pages/operators/accounts/account-page.tsx';
import { AccountsPage } from './pages/operators/accounts/accounts.tsx';
import { OptInsPage } from './pages/operators/accounts/opt-ins.tsx';
import { ApprovalsPage } from './pages/operators/approvals.tsx';
import { CarrierPage } from './pages/operators/carriers/carrier-page.tsx';
import { CarriersPage } from './pages/operators/carriers/carriers.tsx';
import { MailPage } from './pages/operators/mail.tsx';
import { FindMessagesPage, OpenMessagePage } from './pages/operators/messages.tsx';
import { OperatorNumbersPage } from './pages/operators/numbers.tsx';
import { OperatorOverviewPage } from './pages/operators/overview.tsx';
import { RoutesPage } from './pages/operators/routes/routes.tsx';
import { ProviderPage } from './pages/operators/traffic/provider-page.tsx';
import { ProvidersPage } from './pages/operators/traffic/providers.tsx';
import { UnmatchedPage } from './pages/operators/traffic/unmatched.tsx';
import { OptOutsPage } from './pages/opt-outs/opt-outs.tsx';
import { OverviewPage } from './pages/overview/overview.tsx';
import { ProfilePage } from './pages/profile/profile.tsx';
import { AdminReportsPage, LossesPage, ReportsPage } from './pages/reports/reports.tsx';
import { SchedulesPage } from './pages/schedules/schedules.tsx';
import { SendChatPage } from './pages/send/chat.tsx';
import { SendManyPage, SendOnePage } from './pages/send/sms.tsx';
import { SendersPage } from './pages/senders/senders.tsx';
import { LinkPage } from './pages/sign-in/link.tsx';
import { ChatTemplatesPage } from './pages/templates/chat-templates.tsx';
import { TemplatesPage } from './pages/templates/templates.tsx';
import { UntaggedPage } from './pages/templates/untagged.tsx';
import { AllUsersPage } from './pages/users/all-users.tsx';
import { UsersPage } from './pages/users/users.tsx';
import { VerificationsPage } from './pages/verifications/verifications.tsx';
import { WebhookPage } from './pages/webhooks/webhook-page.tsx';
import { WebhooksPage } from './pages/webhooks/webhooks.tsx';
import { type Page, page } from './router/route.tsx';

/** Every page of the dashboard: its path, its title, who may see it, what shows it, and its place in the navigation if it is there. */
export const PAGES: readonly Page[] = [
  page('/dashboard', 'Overview', 'read', OverviewPage, ['', 'overview']),
  page('/dashboard/send', 'Send', 'send', SendOnePage, ['Messaging', 'send']),
  page('/dashboard/send/many', 'Send to many', 'send', SendManyPage),
  page('/dashboard/send/chatapp', 'Send on the chat-app channel', 'send', SendChatPage),
  page('/dashboard/messages', 'Messages', 'read', MessagesPage, ['Messaging', 'messages']),
  page('/dashboard/messages/:message_id', 'Message', 'read', MessagePage),
  page('/dashboard/batches', 'Batches', 'read', BatchesPage, ['Messaging', 'batches']),
  page('/dashboard/batches/:batch_id', 'Batch', 'read', BatchPage),
  page('/dashboard/schedules', 'Schedules', 'read', SchedulesPage, ['Messaging', 'clock']),
  page('/dashboard/verifications', 'Verifications', 'read', VerificationsPage, ['Messaging', 'check']),
  page('/dashboard/inbox', 'Inbox', 'read', InboxPage, ['Messaging', 'inbox']),
  page('/dashboard/inbox/sms', 'Received SMS', 'read', ReceivedSmsPage),
  page('/dashboard/inbox/:customer', 'Conversation', 'read', ConversationPage),
  page('/dashboard/opt-outs', 'Opt-outs', 'read', OptOutsPage, ['Messaging', 'stop']),
  page('/dashboard/erasures', 'Erased customers', 'manage', ErasuresPage),
  page('/dashboard/templates', 'Templates', 'read', TemplatesPage, ['Messaging', 'template']),
  page('/dashboard/templates/untagged', 'Templates with {#var#}', 'read', UntaggedPage),
  page('/dashboard/templates/chatapp', 'Templates', 'read', ChatTemplatesPage),
  page('/dashboard/credits', 'Credits', 'read', CreditsPage, ['', 'credits']),
  page('/dashboard/credits/statement/:month', 'Statement of a month', 'read', StatementPage),
  page('/dashboard/reports', 'Reports', 'read', ReportsPage, ['', 'queue']),
  page('/dashboard/senders', 'Senders', 'read', SendersPage, ['Settings', 'sender']),
  page('/dashboard/ctas', 'Links and numbers', 'read', CtasPage, ['Settings', 'link']),
  page('/dashboard/numbers', 'Numbers', 'read', NumbersPage, ['Settings', 'number']),
  page('/dashboard/keys', 'API keys', 'read', KeysPage, ['Settings', 'key']),
  page('/dashboard/limits', 'Limits', 'read', LimitsPage, ['Settings', 'stop']),
  page('/dashboard/webhooks', 'Webhooks', 'read', WebhooksPage, ['Settings', 'webhook']),
  page('/dashboard/webhooks/:webhook_id', 'Webhook', 'read', WebhookPage),
  page('/dashboard/users', 'Users', ['owner', 'admin:look'], UsersPage, ['Settings', 'users']),
  page('/dashboard/account', 'Account', ['owner', 'admin:look'], AccountSettingsPage, ['Settings', 'accounts']),
  page('/dashboard/audit', 'Audit', ['manage', 'admin:look'], AuditPage, ['Settings', 'audit']),
  page('/dashboard/admin', 'Operations', 'admin:read', OperatorOverviewPage, ['Operators', 'overview']),
  page('/dashboard/admin/messages', 'Find messages', 'admin:look', FindMessagesPage, ['Operators', 'search']),
  page('/dashboard/admin/messages/:message_id', 'Message', 'admin:look', OpenMessagePage),
  page('/dashboard/admin/accounts', 'Accounts', ['admin:read', 'admin:look'], AccountsPage, ['Operators', 'accounts']),
  page('/dashboard/admin/accounts/:account_id', 'Account', ['admin:read', 'admin:look'], AccountPage),
  page('/dashboard/admin/reports', 'Reports of all accounts', 'admin:read', AdminReportsPage, ['Operators', 'queue']),
  page('/dashboard/admin/losses', 'Conversations that cost more', 'admin:read', LossesPage),
  page(
    '/dashboard/admin/accounts/:account_id/statement/:month',
    'Statement of a month',
    'admin:read',
    AdminStatementPage,
  ),
  page('/dashboard/admin/accounts/:account_id/opt-ins', 'Opt-ins', 'admin:read', OptInsPage),
  page('/dashboard/admin/approvals', 'Approvals', 'admin:read', ApprovalsPage, ['Operators', 'check']),
  page('/dashboard/admin/carriers', 'Carriers', 'admin:read', CarriersPage, ['Operators', 'carrier']),
  page('/dashboard/admin/carriers/:carrier_id', 'Carrier', 'admin:read', CarrierPage),
  page('/dashboard/admin/routes', 'Routes', 'admin:read', RoutesPage, ['Operators', 'send']),
  page('/dashboard/admin/providers', 'Chat-app providers', 'admin:read', ProvidersPage, ['Operators', 'provider']),
  page('/dashboard/admin/providers/:number', 'Chat-app number', 'admin:read', ProviderPage),
  page('/dashboard/admin/numbers', 'Numbers', 'admin:read', OperatorNumbersPage, ['Operators', 'number']),
  page('/dashboard/admin/unmatched', 'Unmatched', 'admin:read', UnmatchedPage, ['Operators', 'orphan']),
  page('/dashboard/admin/erasures', 'Erased customers', 'admin:read', OperatorErasuresPage, ['Operators', 'stop']),
  page('/dashboard/admin/mail', 'Mail', 'admin:read', MailPage, ['Operators', 'mail']),
  page('/dashboard/admin/users', 'Users of all accounts', 'admin:read', AllUsersPage, ['Operators', 'users']),
  page('/dashboard/admin/audit', 'Audit of everything', 'admin:read', OperatorsAuditPage, ['Operators', 'audit']),
  page('/dashboard/profile', 'Your profile', [], ProfilePage),
  page('/dashboard/link', 'Set your password', 'open', LinkPage),
];
