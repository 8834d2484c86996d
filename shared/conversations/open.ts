import type { Db } from 'mongodb';
import type { AccountDocument, PendingChange } from '../accounts/account.ts';
import type { Refusal } from '../credits/refusal.ts';
import { CHAT_LANE, CHAT_PATH, type ChatMessageDocument } from '../messages/chat-message.ts';
import { insertMessages } from '../messages/insert.ts';
import { untilAnswered } from '../mongo/until-answered.ts';
import { type SingleUpdate, updateEach } from '../mongo/update-each.ts';
import { type Clock, isoDate } from '../runtime/clock.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import { Grouper } from '../runtime/grouper.ts';
import type { AccountId, ConversationId, GroupId, MessageId } from '../runtime/ids.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { conversationKey, type OpenConversation, type Opening } from './conversation.ts';
import { type ChatOrder, type ChatState, decideChats } from './decide.ts';
import { type OpeningToStore, openerUpdate, payForOpenings, storeOpenings } from './opening-store.ts';
import type { ChatPrices } from './pricing.ts';
import { insertBy } from './rider-store.ts';
import { readConversations } from './store.ts';

/** A chat-app message as the caller wants it: checked, not paid yet. */
export type ChatDraft = Pick<ChatMessageDocument, '_id' | 'to' | 'content' | 'validUntil' | 'reference'>;

export type ChatAcceptOutcome =
  /** `credits`: what this message was charged with, 0 in a conversation that is paid for; `balance` when it paid. */
  | {
      readonly kind: 'accepted';
      readonly conversation: ConversationId;
      readonly credits: number;
      readonly balance?: number;
    }
  | Refusal
  /** `closedAt` undefined: the customer never wrote. */
  | SessionClosed
  | { readonly kind: 'outcome_unknown' };

export interface SessionClosed {
  readonly kind: 'session_closed';
  readonly closedAt: Date | undefined;
}

/**
 * The only way for chat-app messages into the product: the first to a customer opens a conversation and pays for it, the
 * others ride in it, and session and account allow it, or nothing is stored. Opening is a compare-and-set on the account's
 * counter `chats`, read before the look whether a conversation is open: of two gateways that accept the first message to a
 * customer at once, one opens and charges, the other rides (docs/decisions/0013).
 *
 * While one group of an account is in flight, what arrives waits together and goes in the next. A process that dies after the
 * debit leaves the openings in the account, and the sweep does the rest (messages/finish-pending.ts).
 */
export interface ChatAccepter {
  /** Rejects with the store's error when nothing happened. With `payBy`, before that moment of the store's time or never. */
  accept(account: AccountId, draft: ChatDraft, payBy?: Date): Promise<ChatAcceptOutcome>;
  /** The same for a message that was accepted in a conversation which was given back since: it goes in another one. */
  acceptAgain(message: ChatMessageDocument): Promise<ChatAcceptOutcome>;
}

/** Messages of one group: with the longest texts and parameters the account document carries about a megabyte. */
const GROUP_MAX = 50;
/** Lost races in a row before we give up: each loss means that other conversations of this account were opened. */
const TRIES_MAX = 200;
/** Accounts whose groupers are kept; beyond that idle ones are forgotten (the sweep clears their last pending changes). */
const ACCOUNTS_MAX = 10_000;

export interface ChatAccepterOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly prices: ChatPrices;
}

interface Entry extends ChatOrder {
  readonly payBy: Date | undefined;
  /** As it is stored when it goes in `conversation`. */
  messageIn(conversation: OpenConversation): ChatMessageDocument;
  outcome?: ChatAcceptOutcome | { readonly kind: 'failed'; readonly error: unknown };
}

interface Opened {
  readonly entry: Entry;
  readonly opening: Opening;
}

interface Riding {
  readonly entry: Entry;
  readonly conversation: OpenConversation;
}

interface AccountLine {
  readonly grouper: Grouper<Entry, undefined>;
  /** Followed up in full, to be cleared by the next debit. */
  done: GroupId[];
}

export function createChatAccepter({ db, clock, log, prices }: ChatAccepterOptions): ChatAccepter {
  const accounts = db.collection<AccountDocument>('accounts');
  const lines = new Map<AccountId, AccountLine>();

  const lineOf = (account: AccountId): AccountLine => {
    const known = lines.get(account);
    if (known !== undefined) return known;
    if (lines.size >= ACCOUNTS_MAX) {
      for (const [id, { grouper }] of lines) if (grouper.idle) lines.delete(id);
    }
    const line: AccountLine = {
      grouper: new Grouper({ maxItems: GROUP_MAX, gatherMs: 0, run: (entries) => takeAll(account, line, entries) }),
      done: [],
    };
    lines.set(account, line);
    return line;
  };

  const outcomeOf = async (account: AccountId, entry: Entry): Promise<ChatAcceptOutcome> => {
    await lineOf(account).grouper.add(entry);
    const { outcome = OUTCOME_UNKNOWN } = entry;
    if (outcome.kind === 'failed') throw outcome.error;
    return outcome;
  };

  /** Every entry has its outcome afterwards; what fails for one says nothing about the others. */
  const takeAll = async (account: AccountId, line: AccountLine, entries: readonly Entry[]): Promise<undefined[]> => {
    let open = entries;
    for (let tries = 1; open.length > 0; tries++) {
      try {
        if (tries > TRIES_MAX) throw new Error(`${TRIES_MAX} other conversations of account ${account} came between`);
        await takeOnce(account, line, open);
      } catch (error) {
        for (const entry of open) entry.outcome ??= { kind: 'failed', error };
      }
      open = open.filter(({ outcome }) => outcome === undefined);
    }
    return entries.map(() => undefined);
  };

  /** Leaves entries without an outcome that are to be decided anew: another opening came between, or their own opens first. */
  const takeOnce = async (account: AccountId, line: AccountLine, entries: readonly Entry[]): Promise<void> => {
    const state = await readChatState(db, account, entries);
    const decisions = decideChats(entries, state, clock.now(), prices);
    const opened: Opened[] = [];
    const riding: Riding[] = [];
    entries.forEach((entry, i) => {
      const decision = decisions[i];
      if (decision?.kind === 'open') opened.push({ entry, opening: decision.opening });
      else if (decision?.kind !== 'ride') entry.outcome = decision ?? OUTCOME_UNKNOWN;
      else if (!opened.some(({ opening }) => opening.id === decision.conversation.id)) {
        riding.push({ entry, conversation: decision.conversation });
      }
    });
    const results = await Promise.allSettled([ride(account, riding), open(account, line, state, opened)]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };

  /** Each kind by itself: what fails for one says nothing about the others, which may be stored. */
  const ride = async (account: AccountId, riding: readonly Riding[]): Promise<void> => {
    const keyed = riding.filter(({ entry }) => entry.payBy !== undefined);
    const plain = riding.filter(({ entry }) => !entry.again && entry.payBy === undefined);
    const again = riding.filter(({ entry }) => entry.again);
    await Promise.all([
      board(account, plain, async () => {
        const messages = plain.map(({ entry, conversation }) => entry.messageIn(conversation));
        await insertMessages(db, messages);
        return true;
      }),
      board(account, again, async () => {
        const updates = again.map(({ entry, conversation }) => riderUpdate(entry._id, conversation));
        await updateEach(db, 'messages', updates);
        return true;
      }),
      ...keyed.map((one) => board(account, [one], () => insertOneBy(one))),
    ]);
  };

  const insertOneBy = async ({ entry, conversation }: Riding): Promise<boolean> =>
    entry.payBy === undefined || insertBy(db, entry.messageIn(conversation), entry.payBy);

  /** Every one of them has its outcome afterwards; `store` says whether it was in time. */
  const board = async (account: AccountId, riding: readonly Riding[], store: () => Promise<boolean>): Promise<void> => {
    if (riding.length === 0) return;
    try {
      const asked = await untilAnswered({ clock, log, what: { account } }, store);
      for (const { entry, conversation } of riding) {
        if (asked === 'unknown') entry.outcome = OUTCOME_UNKNOWN;
        else if (!asked.answer) entry.outcome = { kind: 'too_late' };
        else entry.outcome = { kind: 'accepted', conversation: conversation.id, credits: 0 };
      }
    } catch (error) {
      for (const { entry } of riding) entry.outcome = { kind: 'failed', error };
    }
  };

  const open = async (
    account: AccountId,
    line: AccountLine,
    { account: before }: ChatState,
    opened: readonly Opened[],
  ): Promise<void> => {
    const [first] = opened;
    if (first === undefined) return;
    const openings = opened.map(({ entry, opening }) => ({
      opening,
      messages: entry.again ? [] : [entry.messageIn(opening)],
    }));
    const payBy = earliest(opened.map(({ entry }) => entry.payBy));
    const done = line.done.splice(0);
    const debit = { account, chats: before?.chats, openings, today: isoDate(clock.now()), done, payBy };
    const what = { account, group: first.opening.group };
    let asked: Awaited<ReturnType<typeof untilAnswered<readonly PendingChange[] | undefined>>> = 'unknown';
    try {
      asked = await untilAnswered({ clock, log, what }, () => payForOpenings(accounts, debit));
    } finally {
      // Perhaps not cleared on the way: the next debit does it (again).
      if (asked === 'unknown' || asked.answer === undefined) line.done.push(...done);
    }
    if (asked === 'unknown') {
      for (const { entry } of opened) entry.outcome = OUTCOME_UNKNOWN;
      return;
    }
    const { answer: changes } = asked;
    if (changes === undefined) return payBy && refuseLate(account, opened, payBy);
    const paid = openings.flatMap((one, i) => {
      const pending = changes[i];
      return pending === undefined ? [] : [{ ...one, pending }];
    });
    crashPoint('chat:paid');
    await store(account, line, paid);
    crashPoint('chat:stored');
    paid.forEach(({ opening: { id, credits }, pending }, i) => {
      const entry = opened[i]?.entry;
      if (entry) entry.outcome = { kind: 'accepted', conversation: id, credits, balance: pending.balanceAfter };
    });
  };

  /** Was it that which stood in the way? Who still has time is decided anew. */
  const refuseLate = async (account: AccountId, opened: readonly Opened[], payBy: Date): Promise<void> => {
    const filter = { _id: account, $expr: { $gte: ['$$NOW', payBy] } };
    if ((await accounts.findOne(filter, { projection: { _id: 1 } })) === null) return;
    for (const { entry } of opened) {
      if (entry.payBy !== undefined && entry.payBy <= payBy) entry.outcome = { kind: 'too_late' };
    }
  };

  /** Never rejects: what is paid for is stored in the account already, and what fails here the sweep does. */
  const store = async (account: AccountId, line: AccountLine, paid: readonly OpeningToStore[]): Promise<void> => {
    const groups = paid.map(({ opening }) => opening.group);
    try {
      const what = { account, group: groups[0] };
      const asked = await untilAnswered({ clock, log, what }, () => storeOpenings(db, account, paid));
      if (asked !== 'unknown') line.done.push(...groups);
    } catch (error) {
      log.warn('follow_up_failed', { account, group: groups[0], ...errorFields(error) });
    }
  };

  return {
    accept: (account, draft, payBy) =>
      outcomeOf(account, {
        _id: draft._id,
        to: draft.to,
        freeForm: isFreeForm(draft),
        payBy,
        messageIn: (conversation) => queuedChatMessage(account, draft, conversation),
      }),
    acceptAgain: (message) =>
      outcomeOf(message.account, {
        _id: message._id,
        to: message.to,
        freeForm: isFreeForm(message),
        again: true,
        payBy: undefined,
        messageIn: () => message,
      }),
  };
}

/** What `accept` would say now. Stores and charges nothing. */
export async function wouldOpen(
  db: Db,
  account: AccountId,
  draft: Pick<ChatDraft, '_id' | 'to' | 'content'>,
  now: Date,
  prices: ChatPrices,
): Promise<{ readonly kind: 'would_accept'; readonly credits: number } | Refusal | SessionClosed> {
  const order = { _id: draft._id, to: draft.to, freeForm: isFreeForm(draft) };
  const [decision] = decideChats([order], await readChatState(db, account, [order]), now, prices);
  if (decision === undefined || decision.kind === 'ride') return { kind: 'would_accept', credits: 0 };
  return decision.kind === 'open' ? { kind: 'would_accept', credits: decision.opening.credits } : decision;
}

async function readChatState(db: Db, account: AccountId, orders: readonly ChatOrder[]): Promise<ChatState> {
  const projection = { status: 1, balance: 1, expiryDate: 1, chats: 1, opening: 1 };
  const before = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection });
  const keys = orders.map(({ to }) => conversationKey(account, to));
  return { account: before, conversations: await readConversations(db, keys) };
}

/** The document that an accepted draft becomes. Pure: accept and a redo after a crash write the same. */
function queuedChatMessage(
  account: AccountId,
  draft: ChatDraft,
  { id, opener, group, credits }: OpenConversation,
): ChatMessageDocument {
  return {
    _id: draft._id,
    channel: 'chatapp',
    direction: 'out',
    account,
    conversation: id,
    ...(opener === draft._id && { opened: { group, credits } }),
    to: draft.to,
    path: CHAT_PATH,
    lane: CHAT_LANE,
    content: draft.content,
    ...(draft.reference !== undefined && { reference: draft.reference }),
    state: 'queued',
    v: 0,
    due: draft.validUntil,
    validUntil: draft.validUntil,
    tries: 0,
    history: [],
  };
}

/** A process that died may have paid for the conversation with this very message. */
function riderUpdate(_id: MessageId, conversation: OpenConversation): SingleUpdate {
  if (conversation.opener === _id) return openerUpdate(conversation);
  return {
    filter: { _id, conversation: { $ne: conversation.id } },
    update: { $set: { conversation: conversation.id }, $inc: { v: 1 } },
  };
}

function isFreeForm({ content }: Pick<ChatDraft, 'content'>): boolean {
  return content.kind !== 'template';
}

function earliest(times: readonly (Date | undefined)[]): Date | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}

const OUTCOME_UNKNOWN = { kind: 'outcome_unknown' } as const;
