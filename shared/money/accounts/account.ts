import type { Binary } from 'mongodb';
import type { Daytime } from '../../messages/document/routing.ts';
import type { AccountId, ConversationId, GroupId, MessageId, ScheduleId } from '../../platform/runtime/ids.ts';
import type { PriceList, Starter } from './prices.ts';

export const TEXTS = ['shown', 'own', 'hidden'] as const;

/**
 * The account document is where money is decided: one atomic update of it debits or credits, and carries in `pending` what
 * must follow in other documents (money/payment/pending.ts shows each form).
 */
export interface AccountDocument {
  readonly _id: AccountId;
  /** It has the test messages of a live account (gateway/access/account.ts). */
  readonly test?: true;
  readonly name: string;
  /** `suspended`: its sends are refused. `closed`: for good, and nobody gets in any more (`Closed`). */
  readonly status: 'active' | 'suspended' | 'closed';
  /** Who closed it, and what has become of it since. Present once it is closed. */
  readonly closed?: Closed;
  /**
   * Its waiting messages stay where they are: the account is suspended, or ops paused it. While paused, its sends are still
   * accepted.
   */
  readonly held?: true;
  /** Credits, a whole number, never below 0. */
  readonly balance: number;
  /** Number of the newest ledger entry; every change of `balance` raises it by one. */
  readonly seq: number;
  /** Counter of top-ups and refunds. Their compare-and-set filters on it, because debits would starve them on `seq`. */
  readonly credits: number;
  /**
   * Counter of the chat-app conversations opened so far. Openings filter on it: a compare-and-set (money/conversations/open.ts).
   */
  readonly chats?: number;
  /** ISO 4217. */
  readonly currency: string;
  /** At this balance or below, `balance.low` holds (shared/conditions/accounts.ts). Absent: by the rate of the last week. */
  readonly lowBalance?: number;
  /** Last day (UTC, `2027-11-21`) on which the credits may be spent. */
  readonly expiryDate: string;
  /** `registered`: only senders registered to the account; `any`: every sender of valid form. */
  readonly senders: 'any' | 'registered';
  /** `on`: senders must be registered, and every text must match an approved template of its sender. Absent: `off`. */
  readonly dlt?: 'on' | 'off';
  /** Which receipts and answers of carriers are kept for timelines (messages/settlement/message-log.ts). Absent: `unusual`. */
  readonly log?: 'unusual' | 'all';
  /**
   * `on`: recipients must be valid numbers of their country. `mobile`: they must also be mobile numbers. Absent: no check
   * (money/accounts/number-check.ts).
   */
  readonly numberCheck?: 'on' | 'mobile';
  /** ISO 3166-1, two letters. A number without a country code is taken to be from here. Absent: `IN` with DLT. */
  readonly country?: string;
  /** `exact`: a template's CR LF and LF are different characters. Absent: `any`, all line breaks are one (templates/sms/template.ts). */
  readonly lineBreaks?: 'any' | 'exact';
  /**
   * What becomes of texts with a link or number that is not registered (carriers/cta.ts). `warn`: a dry run and the message's page tell.
   * Absent: nobody looks.
   */
  readonly ctaCheck?: 'warn' | 'refuse';
  /** PE id of the business on the operators' DLT platform. Used for templates without a PE id of their own. */
  readonly entityId?: string;
  /**
   * Who is shown the texts of its messages. `own`: not operators. `hidden`: nobody, once they are sent. Absent: `shown`
   * (gateway/access/texts.ts).
   */
  readonly texts?: (typeof TEXTS)[number];
  /** Some customers have opted out of its SMS, now or earlier. Sends then look into the list (carriers/opt-outs/). */
  readonly optOuts?: true;
  /** How many opt-outs it has entered itself (quotas.ts). One too many when a process died in between: never one too few. */
  readonly optOutsEntered?: number;
  /** Messages that may be sent to customers who opted out. Absent: none. */
  readonly optOutExempt?: readonly ('otp' | 'transactional')[];
  /**
   * `required`: all its users need a second factor. `exempt`: none does, not even owners; only the seed of `npm start` sets
   * this. Absent: owners need one.
   */
  readonly secondFactor?: 'required' | 'exempt';
  /** How many days its messages are kept after their end, when that is less than the product's `HARKARA_MESSAGE_DAYS`. */
  readonly messageDays?: number;
  /** The most requests a minute that the account may give to a key of its own. Absent: 1,000 (`REQUESTS_PER_MINUTE`). */
  readonly keyPerMinute?: number;
  /** The most credits that it may spend in a day and in a month. Absent: no cap. */
  readonly caps?: Caps;
  /** What it has spent, by the same updates that change the balance (money/ledger/spending.ts). */
  readonly spent?: Spending;
  /** The same of its keys that have caps of their own, by `lineOf` the key. */
  readonly keysSpent?: Readonly<Record<string, Spending>>;
  /** The only countries that it may send to, ISO 3166-1, two letters. Absent: all. */
  readonly countries?: readonly string[];
  /** When its SMS may leave, by the recipient's clock. Absent: at any time. */
  readonly daytime?: Daytime;
  /** How many messages one recipient may get from it in a clock hour. Absent: any number. */
  readonly recipientPerHour?: number;
  /** How many messages it may send in one conversation of the chat-app channel, the first included. Absent: any number. */
  readonly conversationMessages?: number;
  /** What becomes of prefixes whose traffic looks like fraud (messages/traffic/). Absent: nobody looks. */
  readonly brake?: 'watch' | 'hold';
  /** Prefixes to which its sends are refused, until a person releases them. Follows from `traffic_holds`. */
  readonly heldPrefixes?: readonly string[];
  /** What it pays (prices.ts). Absent: what the specification says, and what the installation has set for conversations. */
  readonly prices?: PriceList;
  /** Who is named as the buyer on its statements. */
  readonly billing?: Billing;
  /** What one credit costs in its currency, like `0.20`: for its statements. Absent: they have credits alone. */
  readonly creditPrice?: string;
  /** Changes of the balance that may lack their follow-up, by group id or by reference id. */
  readonly pending?: Readonly<Record<string, PendingChange>>;
  /** Opened conversations that may not be stored yet, by the group in `pending` that paid for them. */
  readonly opening?: Readonly<Record<string, PaidConversation>>;
  /** The time since which something may be pending; unset when nothing is. The maintenance finds accounts by it. */
  readonly pendingAt?: Date;
  /** The latest time to pay by (`payBy`) that was declared over: no debit with this one or an earlier one pays any more. */
  readonly lapsed?: Date;
  readonly createdAt: Date;
}

/**
 * The end of an account. One update closes it: from then on its keys and users are let in no more, it pays for nothing, and
 * what waits does not leave. What follows is the maintenance's (workers/maintenance/close-accounts.ts): its things are switched off, what
 * was booked is cancelled, and when nothing waits any more, its balance is settled. After `HARKARA_CLOSED_ACCOUNT_DAYS` everything of it is
 * erased but this document, so that its id is never given again.
 */
export interface Closed {
  readonly at: Date;
  /** Who did it, as in the ledger: `ops asha@vm-1`, `user usr_…`. */
  readonly by: string;
  readonly reason: string;
  /** What becomes of the credits that are left. */
  readonly remaining: 'paid_out' | 'forfeited';
  /** When the maintenance looks at it next, until it is settled. */
  readonly settleAt?: Date;
  readonly settledAt?: Date;
  readonly erasedAt?: Date;
}

/** Whatever is absent is not on the statement; in place of `name` stands the name of the account. */
export interface Billing {
  readonly name?: string;
  /** Line by line. */
  readonly address?: readonly string[];
  /** A business that is registered for India's GST. Its state is the buyer's. */
  readonly gstin?: string;
  /** Of a buyer without GSTIN: the code of the state. */
  readonly state?: string;
}

/** The most credits in one day and one month, of UTC. At least one of them. */
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
  /** Signed: a debit is negative. */
  readonly amount: number;
  readonly balanceAfter: number;
  readonly reason: LedgerReason;
  readonly at: Date;
  /** What the ledger entry refers to: the message that was refunded, or the batch or conversation that was paid for. */
  readonly reference?: string;
  /** The schedules that a debit paid for. It may have paid for messages too. */
  readonly schedules?: readonly ScheduleId[];
  /** The messages that a debit paid for, but those of batches: the account's with this group, from `first` to `last`. */
  readonly covers?: Covers;
  /** What was paid for, as BSON in one binary. money/payment/pending.ts writes and reads it and shows each shape. */
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

/** The keys of `pending`. */
export type ChangeId = GroupId | `crd_${string}` | `ref_${string}`;

/** The account as the audit shows it: without its balance and the fields of its changes. */
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

/** A conversation that was paid for. */
export interface OpenConversation {
  readonly id: ConversationId;
  /** Number of the opening within its account, in the order of payment (`accounts.chats`). */
  readonly number: number;
  /** Who started it: the customer (the session was open) or the business. */
  readonly by: Starter;
  readonly credits: number;
  /** The message of ours that the conversation was charged with. */
  readonly opener: MessageId;
  /** The debit that paid for it. */
  readonly group: GroupId;
  readonly openedAt: Date;
  /** The end: 24 hours after the opening. */
  readonly until: Date;
}

/** A conversation, and which document of the customer has it (money/conversations/person.ts). */
export interface PaidConversation extends OpenConversation {
  /** The name that it was opened under: the one that the opening message was written to, or another one of the person. */
  readonly customer: string;
}

/** All currency codes that this Node knows. A typo here would be shown to customers. */
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** An ISO 4217 code. */
export function isCurrency(text: string): boolean {
  return CURRENCIES.has(text);
}

/** The PE id of a business on the operators' DLT platform. */
export const ENTITY_ID = /^[0-9]{10,20}$/;

/** Ids of the DLT platform have 19 digits today; operators gave 12 and 16 to a few. Undefined: nothing is odd about it. */
export function dltIdDoubt(what: string, id: string | undefined): string | undefined {
  if (id === undefined || id.length === 19) return undefined;
  return `${what} ${id} has ${id.length} digits; those of the DLT platform have 19. Compare it with the platform.`;
}

/** One line of text without control characters, which could control the terminal that shows it. */
export function isLine(text: string, most: number): boolean {
  return text.trim().length > 0 && text.length <= most && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** The last day on which a new account's credits may be spent, unless one is given: a year from now. */
export function defaultExpiry(now: Date): string {
  return new Date(now.getTime() + YEAR_MS).toISOString().slice(0, 10);
}
