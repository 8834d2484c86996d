import type { Page } from './frame/frame.tsx';
import { AccountSettingsPage } from './pages/account.tsx';
import { AuditPage, OperatorsAuditPage } from './pages/audit.tsx';
import { BatchesPage, BatchPage } from './pages/batches.tsx';
import { ChatTemplatesPage } from './pages/chat-templates.tsx';
import { ConversationPage } from './pages/conversation.tsx';
import { CreditsPage } from './pages/credits.tsx';
import { CtasPage } from './pages/ctas.tsx';
import { InboxPage, ReceivedSmsPage } from './pages/inbox.tsx';
import { KeysPage } from './pages/keys.tsx';
import { LimitsPage } from './pages/limits.tsx';
import { MessagePage } from './pages/message.tsx';
import { FindMessagesPage, MessagesPage, OpenMessagePage } from './pages/messages.tsx';
import { NumbersPage, OperatorNumbersPage } from './pages/numbers.tsx';
import { AccountPage } from './pages/operators/account.tsx';
import { AccountsPage } from './pages/operators/accounts.tsx';
import { ApprovalsPage } from './pages/operators/approvals.tsx';
import { CarrierPage } from './pages/operators/carrier.tsx';
import { CarriersPage } from './pages/operators/carriers.tsx';
import { MailPage } from './pages/operators/mail.tsx';
import { OptInsPage } from './pages/operators/opt-ins.tsx';
import { OperatorOverviewPage } from './pages/operators/overview.tsx';
import { ProviderPage } from './pages/operators/provider.tsx';
import { ProvidersPage } from './pages/operators/providers.tsx';
import { RoutesPage } from './pages/operators/routes.tsx';
import { UnmatchedPage } from './pages/operators/unmatched.tsx';
import { ErasuresPage, OperatorErasuresPage, OptOutsPage } from './pages/opt-outs.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { ProfilePage } from './pages/profile.tsx';
import { AdminReportsPage, LossesPage, ReportsPage } from './pages/reports.tsx';
import { SchedulesPage } from './pages/schedules.tsx';
import { SendChatPage } from './pages/send-chat.tsx';
import { SendManyPage, SendOnePage } from './pages/send-sms.tsx';
import { SendersPage } from './pages/senders.tsx';
import { LinkPage } from './pages/sign-in.tsx';
import { AdminStatementPage, StatementPage } from './pages/statements.tsx';
import { UntaggedPage } from './pages/template-tags.tsx';
import { TemplatesPage } from './pages/templates.tsx';
import { AllUsersPage, UsersPage } from './pages/users.tsx';
import { VerificationsPage } from './pages/verifications.tsx';
import { WebhookPage } from './pages/webhook.tsx';
import { WebhooksPage } from './pages/webhooks.tsx';

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

function page(path: Page['path'], title: string, needs: Page['needs'], view: Page['view'], place?: Page['nav']): Page {
  return { path, title, needs, view, nav: place };
}
