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
import { LedgerChecksPage } from './pages/operators/ledger-checks.tsx';
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
import type { Page } from './router/route.tsx';

/** Every page of the dashboard. In the navigation they stand in this order, by group. */
export const PAGES: readonly Page[] = [
  {
    path: '/dashboard',
    title: 'Overview',
    needs: 'read',
    nav: { group: '', icon: 'overview' },
    view: OverviewPage,
  },
  {
    path: '/dashboard/send',
    title: 'Send',
    needs: 'send',
    nav: { group: 'Messaging', icon: 'send' },
    view: SendOnePage,
  },
  {
    path: '/dashboard/send/many',
    title: 'Send to many',
    needs: 'send',
    view: SendManyPage,
  },
  {
    path: '/dashboard/send/chatapp',
    title: 'Send on the chat-app channel',
    needs: 'send',
    view: SendChatPage,
  },
  {
    path: '/dashboard/messages',
    title: 'Messages',
    needs: 'read',
    nav: { group: 'Messaging', icon: 'messages' },
    view: MessagesPage,
  },
  {
    path: '/dashboard/messages/:message_id',
    title: 'Message',
    needs: 'read',
    view: MessagePage,
  },
  {
    path: '/dashboard/batches',
    title: 'Batches',
    needs: 'read',
    nav: { group: 'Messaging', icon: 'batches' },
    view: BatchesPage,
  },
  {
    path: '/dashboard/batches/:batch_id',
    title: 'Batch',
    needs: 'read',
    view: BatchPage,
  },
  {
    path: '/dashboard/schedules',
    title: 'Schedules',
    needs: 'read',
    nav: { group: 'Messaging', icon: 'clock' },
    view: SchedulesPage,
  },
  {
    path: '/dashboard/verifications',
    title: 'Verifications',
    needs: 'read',
    nav: { group: 'Messaging', icon: 'check' },
    view: VerificationsPage,
  },
  {
    path: '/dashboard/inbox',
    title: 'Inbox',
    needs: 'read',
    nav: { group: 'Messaging', icon: 'inbox' },
    view: InboxPage,
  },
  {
    path: '/dashboard/inbox/sms',
    title: 'Received SMS',
    needs: 'read',
    view: ReceivedSmsPage,
  },
  {
    path: '/dashboard/inbox/:customer',
    title: 'Conversation',
    needs: 'read',
    view: ConversationPage,
  },
  {
    path: '/dashboard/opt-outs',
    title: 'Opt-outs',
    needs: 'read',
    nav: { group: 'Messaging', icon: 'stop' },
    view: OptOutsPage,
  },
  {
    path: '/dashboard/erasures',
    title: 'Erased customers',
    needs: 'manage',
    view: ErasuresPage,
  },
  {
    path: '/dashboard/templates',
    title: 'Templates',
    needs: 'read',
    nav: { group: 'Messaging', icon: 'template' },
    view: TemplatesPage,
  },
  {
    path: '/dashboard/templates/untagged',
    title: 'Templates with {#var#}',
    needs: 'read',
    view: UntaggedPage,
  },
  {
    path: '/dashboard/templates/chatapp',
    title: 'Templates',
    needs: 'read',
    view: ChatTemplatesPage,
  },
  {
    path: '/dashboard/credits',
    title: 'Credits',
    needs: 'read',
    nav: { group: '', icon: 'credits' },
    view: CreditsPage,
  },
  {
    path: '/dashboard/credits/statement/:month',
    title: 'Statement of a month',
    needs: 'read',
    view: StatementPage,
  },
  {
    path: '/dashboard/reports',
    title: 'Reports',
    needs: 'read',
    nav: { group: '', icon: 'queue' },
    view: ReportsPage,
  },
  {
    path: '/dashboard/senders',
    title: 'Senders',
    needs: 'read',
    nav: { group: 'Settings', icon: 'sender' },
    view: SendersPage,
  },
  {
    path: '/dashboard/ctas',
    title: 'Links and numbers',
    needs: 'read',
    nav: { group: 'Settings', icon: 'link' },
    view: CtasPage,
  },
  {
    path: '/dashboard/numbers',
    title: 'Numbers',
    needs: 'read',
    nav: { group: 'Settings', icon: 'number' },
    view: NumbersPage,
  },
  {
    path: '/dashboard/keys',
    title: 'API keys',
    needs: 'read',
    nav: { group: 'Settings', icon: 'key' },
    view: KeysPage,
  },
  {
    path: '/dashboard/limits',
    title: 'Limits',
    needs: 'read',
    nav: { group: 'Settings', icon: 'stop' },
    view: LimitsPage,
  },
  {
    path: '/dashboard/webhooks',
    title: 'Webhooks',
    needs: 'read',
    nav: { group: 'Settings', icon: 'webhook' },
    view: WebhooksPage,
  },
  {
    path: '/dashboard/webhooks/:webhook_id',
    title: 'Webhook',
    needs: 'read',
    view: WebhookPage,
  },
  {
    path: '/dashboard/users',
    title: 'Users',
    needs: ['owner', 'admin:look'],
    nav: { group: 'Settings', icon: 'users' },
    view: UsersPage,
  },
  {
    path: '/dashboard/account',
    title: 'Account',
    needs: ['owner', 'admin:look'],
    nav: { group: 'Settings', icon: 'accounts' },
    view: AccountSettingsPage,
  },
  {
    path: '/dashboard/audit',
    title: 'Audit',
    needs: ['manage', 'admin:look'],
    nav: { group: 'Settings', icon: 'audit' },
    view: AuditPage,
  },
  {
    path: '/dashboard/admin',
    title: 'Operations',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'overview' },
    view: OperatorOverviewPage,
  },
  {
    path: '/dashboard/admin/messages',
    title: 'Find messages',
    needs: 'admin:look',
    nav: { group: 'Operators', icon: 'search' },
    view: FindMessagesPage,
  },
  {
    path: '/dashboard/admin/messages/:message_id',
    title: 'Message',
    needs: 'admin:look',
    view: OpenMessagePage,
  },
  {
    path: '/dashboard/admin/accounts',
    title: 'Accounts',
    needs: ['admin:read', 'admin:look'],
    nav: { group: 'Operators', icon: 'accounts' },
    view: AccountsPage,
  },
  {
    path: '/dashboard/admin/accounts/:account_id',
    title: 'Account',
    needs: ['admin:read', 'admin:look'],
    view: AccountPage,
  },
  {
    path: '/dashboard/admin/reports',
    title: 'Reports of all accounts',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'queue' },
    view: AdminReportsPage,
  },
  {
    path: '/dashboard/admin/losses',
    title: 'Conversations that cost more',
    needs: 'admin:read',
    view: LossesPage,
  },
  {
    path: '/dashboard/admin/accounts/:account_id/statement/:month',
    title: 'Statement of a month',
    needs: 'admin:read',
    view: AdminStatementPage,
  },
  {
    path: '/dashboard/admin/accounts/:account_id/opt-ins',
    title: 'Opt-ins',
    needs: 'admin:read',
    view: OptInsPage,
  },
  {
    path: '/dashboard/admin/approvals',
    title: 'Approvals',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'check' },
    view: ApprovalsPage,
  },
  {
    path: '/dashboard/admin/carriers',
    title: 'Carriers',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'carrier' },
    view: CarriersPage,
  },
  {
    path: '/dashboard/admin/carriers/:carrier_id',
    title: 'Carrier',
    needs: 'admin:read',
    view: CarrierPage,
  },
  {
    path: '/dashboard/admin/routes',
    title: 'Routes',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'send' },
    view: RoutesPage,
  },
  {
    path: '/dashboard/admin/providers',
    title: 'Chat-app providers',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'provider' },
    view: ProvidersPage,
  },
  {
    path: '/dashboard/admin/providers/:number',
    title: 'Chat-app number',
    needs: 'admin:read',
    view: ProviderPage,
  },
  {
    path: '/dashboard/admin/numbers',
    title: 'Numbers',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'number' },
    view: OperatorNumbersPage,
  },
  {
    path: '/dashboard/admin/unmatched',
    title: 'Unmatched',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'orphan' },
    view: UnmatchedPage,
  },
  {
    path: '/dashboard/admin/erasures',
    title: 'Erased customers',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'stop' },
    view: OperatorErasuresPage,
  },
  {
    path: '/dashboard/admin/ledger-checks',
    title: 'Ledger check',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'credits' },
    view: LedgerChecksPage,
  },
  {
    path: '/dashboard/admin/mail',
    title: 'Mail',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'mail' },
    view: MailPage,
  },
  {
    path: '/dashboard/admin/users',
    title: 'Users of all accounts',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'users' },
    view: AllUsersPage,
  },
  {
    path: '/dashboard/admin/audit',
    title: 'Audit of everything',
    needs: 'admin:read',
    nav: { group: 'Operators', icon: 'audit' },
    view: OperatorsAuditPage,
  },
  {
    path: '/dashboard/profile',
    title: 'Your profile',
    view: ProfilePage,
  },
  {
    path: '/dashboard/link',
    title: 'Set your password',
    needs: 'open',
    view: LinkPage,
  },
];
