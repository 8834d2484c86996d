import type { Binary } from 'mongodb';
import type { Daytime } from '../../messages/document/routing.ts';
import type { AccountId, ConversationId, GroupId, MessageId, ScheduleId } from '../../platform/runtime/ids.ts';
import type { PriceList, Starter } from './prices.ts';

export const TEXTS = ['shown', 'own', 'hidden'] as const;

/** Money is decided here: one update debits or credits, and carries its follow-up in `pending` (pending.ts). */
export interface AccountDocument {
  readonly _id: AccountId;
  /** Holds the test messages of a live account (gateway/access/account.ts). */
  readonly test?: true;
  readonly name: string;
  /** `suspended`: its sends are refused. `closed`: for good, and nobody gets in any more (`Closed`). */
  readonly status: 'active' | 'suspended' | 'closed';
  readonly closed?: Closed;
  /** Waiting messages do not leave: the account is suspended, or paused, which still accepts sends. */
  readonly held?: true;
  /** Credits, a whole number, never below 0. */
  readonly balance: number;
  /** Number of the newest ledger entry; every change of `balance` raises it by one. */
  readonly seq: number;
  /** Counter of top-ups and refunds. Their compare-and-set filters on it, because debits would starve them on `seq`. */
  readonly credits: number;
  /** Counter of chat-app conversations opened. Openings are a compare-and-set on it (money/conversations/open.ts). */
  readonly chats?: number;
  /** ISO 4217. */
  readonly currency: string;
  /** At or below it, `balance.low` holds (shared/conditions/accounts.ts). Absent: by last week's rate. */
  readonly lowBalance?: number;
  /** Last day (UTC, `2027-11-21`) on which the credits may be spent. */
  readonly expiryDate: string;
  /** `registered`: only senders registered to the account. */
  readonly senders: 'any' | 'registered';
  /** `on`: senders must be registered, and every text must match an approved template of its sender. Absent: `off`. */
  readonly dlt?: 'on' | 'off';
  /** Receipts and answers kept for timelines (messages/settlement/message-log.ts). Absent: `unusual`. */
  readonly log?: 'unusual' | 'all';
  /** `on`: recipients must be valid numbers of their country; `mobile`: also mobile (number-check.ts). */
  readonly numberCheck?: 'on' | 'mobile';
  /** The country of numbers without a country code (ISO 3166-1). Absent: `IN` with DLT. */
  readonly country?: string;
  /** `exact`: a template's CR LF and LF differ. Absent: all line breaks are one (templates/sms/template.ts). */
  readonly lineBreaks?: 'any' | 'exact';
  /** For unregistered links or numbers (carriers/cta.ts). `warn`: only dry runs and message pages tell. */
  readonly ctaCheck?: 'warn' | 'refuse';
  /** PE id of the business on the DLT platform. Used for templates without a PE id of their own. */
  readonly entityId?: string;
  /** `own`: hidden from operators. `hidden`: from all, once sent. Absent: `shown` (gateway/access/texts.ts). */
  readonly texts?: (typeof TEXTS)[number];
  /** Some customers have opted out of its SMS, now or earlier. Sends then look into the list (carriers/opt-outs/). */
  readonly optOuts?: true;
  /** How many opt-outs it has entered itself (quotas.ts). After a crash perhaps one too many, never one too few. */
  readonly optOutsEntered?: number;
  /** Messages that may be sent to customers who opted out. Absent: none. */
  readonly optOutExempt?: readonly ('otp' | 'transactional')[];
  /** For its users. `exempt`: only set by the seed of `npm start`. Absent: owners need a second factor. */
  readonly secondFactor?: 'required' | 'exempt';
  /** How long its messages are kept after their end, if less than `HARKARA_MESSAGE_DAYS`. */
  readonly messageDays?: number;
  /** Most requests a minute that the account may give to a key of its own. Absent: 1,000 (`REQUESTS_PER_MINUTE`). */
  readonly keyPerMinute?: number;
  /** Most credits to spend in a day and in a month. Absent: no cap. */
  readonly caps?: Caps;
  /** Counted by the updates that change the balance (money/ledger/spending.ts). */
  readonly spent?: Spending;
  /** For keys with caps of their own, by `lineOf` the key. */
  readonly keysSpent?: Readonly<Record<string, Spending>>;
  /** The only countries that it may send to, ISO 3166-1. Absent: all. */
  readonly countries?: readonly string[];
  /** When its SMS may leave, by the recipient's clock. Absent: at any time. */
  readonly daytime?: Daytime;
  /** Most messages to one recipient in a clock hour. Absent: any number. */
  readonly recipientPerHour?: number;
  /** Most messages in one chat-app conversation, the first included. Absent: any number. */
  readonly conversationMessages?: number;
  /** `hold` refuses sends to prefixes whose traffic looks like fraud (messages/traffic/). Absent: nobody looks. */
  readonly brake?: 'watch' | 'hold';
  /** Prefixes to which its sends are refused until a person releases them. Derived from `traffic_holds`. */
  readonly heldPrefixes?: readonly string[];
  /** The account's prices (prices.ts). Absent: the specification's, and the installation's for conversations. */
  readonly prices?: PriceList;
  readonly billing?: Billing;
  /** For its statements: one credit in its currency, like `0.20`. Absent: they have credits alone. */
  readonly creditPrice?: string;
  /** Changes of the balance that may lack their follow-up, by group id or by reference id. */
  readonly pending?: Readonly<Record<string, PendingChange>>;
  /** Opened conversations that may not be stored yet, by the group in `pending` that paid for them. */
  readonly opening?: Readonly<Record<string, PaidConversation>>;
  /** Since when something may be pending; maintenance finds accounts by it. */
  readonly pendingAt?: Date;
  /** The latest `payBy` that was declared over: no debit with this one or an earlier one pays any more. */
  readonly lapsed?: Date;
  readonly createdAt: Date;
}

/**
 * The end of an account, decided by one update: its keys and users are let in no more, it pays for nothing, and what
 * waits does not leave. Maintenance (workers/maintenance/close-accounts.ts) then switches off its things, cancels what
 * was booked, and settles the balance when nothing waits. After `HARKARA_CLOSED_ACCOUNT_DAYS` everything is erased but
 * this document, so that its id is never given again.
 */
export interface Closed {
  readonly at: Date;
  /** As in the ledger: `ops asha@vm-1`, `user usr_…`. */
  readonly by: string;
  readonly reason: string;
  readonly remaining: 'paid_out' | 'forfeited';
  readonly settleAt?: Date;
  readonly settledAt?: Date;
  readonly erasedAt?: Date;
}

/** Absent fields are not on the statement, except `name`: then the account's name is. */
export interface Billing {
  readonly name?: string;
  readonly address?: readonly string[];
  /** Registration for India's GST. Its state is the buyer's. */
  readonly gstin?: string;
  /** For a buyer without GSTIN: the code of the state. */
  readonly state?: string;
}

/** Most credits in one day and one month, of UTC. At least one of them. */
export interface Caps {
  readonly day?: number;
  readonly month?: number;
}

/** Credits that were spent, without what was given back, in the newest day and month with a debit. */
export interface Spending {
  /** 20261128. */
  readonly day: number;
  /** 202611. */
  readonly month: number;
  readonly ofDay: number;
  readonly ofMonth: number;
}

/** One change of the balance with everything its ledger entry needs, and what it paid for. */
export interface PendingChange extends CreditNote {
  readonly seq: number;
  readonly amount: number;
  readonly balanceAfter: number;
  readonly reason: LedgerReason;
  readonly at: Date;
  /** The refunded message, or the batch or conversation that was paid for. */
  readonly reference?: string;
  /** The schedules that a debit paid for. It may have paid for messages too. */
  readonly schedules?: readonly ScheduleId[];
  /** The account's messages with this group, from `first` to `last`, without those of batches. */
  readonly covers?: Covers;
  /** The paid messages and schedules as BSON; money/payment/pending.ts shows each shape. */
  readonly messages?: Binary;
}

export interface Covers {
  readonly count: number;
  readonly first: MessageId;
  readonly last: MessageId;
}

/** `correction`: an operator put a mistake right; it may take credits away. */
export type LedgerReason = 'send' | 'conversation' | 'top_up' | 'refund' | 'correction';

/** Why an operator changed the balance, and who did. The account reads `note`. */
export interface CreditNote {
  readonly note?: string;
  /** As in the audit: `ops asha@vm-1`, `user usr_…`. */
  readonly by?: string;
}

export type ChangeId = GroupId | `crd_${string}` | `ref_${string}`;

/** Without its balance and the fields of its changes. */
export function accountInAudit(account: AccountDocument): object {
  const {
    balance,
    seq,
    credits,
    chats,
    pending,
    opening,
    pendingAt,
    lapsed,
    spent,
    keysSpent,
    heldPrefixes,
    ...settings
  } = account;
  return settings;
}

export interface OpenConversation {
  readonly id: ConversationId;
  /** Number of the opening within its account, in the order of payment (`accounts.chats`). */
  readonly number: number;
  /** Who started it: the customer (the session was open) or the business. */
  readonly by: Starter;
  readonly credits: number;
  readonly opener: MessageId;
  readonly group: GroupId;
  readonly openedAt: Date;
  /** 24 hours after the opening. */
  readonly until: Date;
}

/** A conversation, and which document of the customer has it (money/conversations/person.ts). */
export interface PaidConversation extends OpenConversation {
  /** The name that it was opened under: the opening message's recipient, or another name of the person. */
  readonly customer: string;
}

/** All currency codes that this Node knows. A typo would be shown to customers. */
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

export function isCurrency(text: string): boolean {
  return CURRENCIES.has(text);
}

export const ENTITY_ID = /^[0-9]{10,20}$/;

/** Ids of the DLT platform have 19 digits today; operators gave 12 and 16 to a few. Undefined: no doubt. */
export function dltIdDoubt(what: string, id: string | undefined): string | undefined {
  if (id === undefined || id.length === 19) return undefined;
  return `${what} ${id} has ${id.length} digits; those of the DLT platform have 19. Compare it with the platform.`;
}

/** One line without control characters, which could control the terminal that shows it. */
export function isLine(text: string, most: number): boolean {
  return text.trim().length > 0 && text.length <= most && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** A year from now, unless one is given. */
export function defaultExpiry(now: Date): string {
  return new Date(now.getTime() + YEAR_MS).toISOString().slice(0, 10);
}
