import { Binary, BSON } from 'mongodb';
import { TEST_PATH } from '../../carriers/routing/route.ts';
import {
  type AccountId,
  type BatchId,
  debitQueueId,
  type GroupId,
  type MessageId,
  type QueueId,
} from '../../platform/runtime/ids.ts';
import type { Claim, MessageDocument } from '../document/message.ts';

/**
 * What waits to be sent: SMS of one path and lane, in the order in which they leave. Each is a *line*. A message is
 * inserted into `messages` when something becomes of it; until then it exists only as its line.
 *
 *     {
 *       _id: 'que_01kq…_0', account: 'acc_1', path: 'transactional', lane: 1, n: 3, next: 2, open: true,
 *       claims: [{id: 'clm_1', carrier: 'airtel', epoch: 4, at, from: 0, to: 2}],
 *       first: 'msg_1', last: 'msg_3', until, writeAt, lines: <binary>,
 *     }
 *
 * **Who decides.** Lines before `next` belong to their claims. The others are claimed by an update that raises `next`
 * and names the value that was read. In a `written` document, all messages are in `messages`, and their own `state`
 * decides (queued → submitting): they can be cancelled, expired and moved there. The update that sets `written` names
 * `next` too. Messages that a carrier returns come back as lines of a new, written document.
 *
 * **Whose they are.** Usually all lines are of one account and template. A *mixed* document (`account: '*'`) has a
 * few lines each of several accounts, which have paid by one command. It is claimed as the others are. Whoever writes
 * it out gives its waiting messages lines of single accounts and removes it; meanwhile nobody claims from it.
 *
 * **Its end.** It is removed when no line is left and all claimed ones are in `messages`.
 */
export interface QueueDocument {
  readonly _id: QueueId;
  readonly account: AccountId | typeof MIXED;
  readonly path: string;
  readonly lane: number;
  /** DLT id of the template of all lines, if they are of one account. */
  readonly template?: string;
  readonly batch?: BatchId;
  readonly n: number;
  /** The first line that nobody has claimed. */
  readonly next: number;
  /** Set while `next < n`: only these are in the claim's index. */
  readonly open?: true;
  /** Also those whose messages were settled meanwhile. */
  readonly claims: readonly QueueClaim[];
  readonly written?: true;
  /** When its messages are to be inserted although nothing became of them (`writeOut`). Unset afterwards. */
  readonly writeAt?: Date;
  /** A process that was thought dead may still insert it. So it stays for a day after its end, to refuse that. */
  readonly keep?: true;
  readonly removeAt?: Date;
  readonly first: MessageId;
  readonly last: MessageId;
  /** When the validity of all its messages is over. */
  readonly until: Date;
  readonly lines: Binary;
}

/** The lines from `from` up to, not including, `to`. */
export interface QueueClaim extends Claim {
  readonly from: number;
  readonly to: number;
  /** The document was written: these messages become `submitting` in `messages`. */
  readonly written?: true;
}

export const MIXED = '*';

export function isMixed({ account }: Pick<QueueDocument, 'account'>): boolean {
  return account === MIXED;
}

/** Most lines, and most bytes of text: a claim of some of them rewrites the document. */
const LINES_MAX = 200;
const TEXT_MAX = 32_000;
/** Those of one debit command. */
export const ACCOUNTS_MAX = 50;
/** Limits of each account in a mixed document, so that there is room for all. */
const FEW_LINES = LINES_MAX / ACCOUNTS_MAX;
const FEW_TEXT = TEXT_MAX / ACCOUNTS_MAX;

/** How long lines may wait before their messages are inserted for lists, searches and counts. */
export const WRITE_OUT_MS = 3_000;

/** Equal in all messages of a document that is not mixed. */
type Kind = Pick<MessageDocument, 'account' | 'path' | 'lane' | 'template' | 'batch'>;

/** Cuts messages, in their order, into pieces that can be one queue document each. */
export function queueable<M extends Kind & Partial<Pick<MessageDocument, 'text'>>>(
  messages: readonly M[],
): readonly (readonly M[])[] {
  const pieces: M[][] = [];
  const filling = new Map<string, { piece: M[]; bytes: number }>();
  for (const message of messages) {
    const { account, path, lane, template = '', batch = '', text = '' } = message;
    const kind = `${account} ${lane} ${template} ${batch} ${path}`;
    let to = filling.get(kind);
    if (to === undefined || to.piece.length === LINES_MAX || to.bytes + text.length > TEXT_MAX) {
      to = { piece: [], bytes: 0 };
      filling.set(kind, to);
      pieces.push(to.piece);
    }
    to.piece.push(message);
    to.bytes += text.length;
  }
  return pieces;
}

export interface PaidLines {
  /** All debits of one command have the same. */
  readonly group: GroupId;
  readonly messages: readonly MessageDocument[];
}

/**
 * The queue documents of what debits have paid for. Accounts with only a few lines on a path and lane share a document.
 * Its id depends only on what the own account has paid for, so whoever stores one debit again finds it.
 */
export function queueDocuments(groups: readonly PaidLines[], now: Date): QueueDocument[] {
  const pieces = new Map<QueueId, MessageDocument[]>();
  for (const { group, messages } of groups) {
    for (const [id, piece] of piecesOf(group, messages)) {
      const others = pieces.get(id);
      if (others === undefined) pieces.set(id, [...piece]);
      else others.push(...piece);
    }
  }
  return [...pieces].map(([id, piece]) => queueDocument(id, piece, now));
}

function piecesOf(group: GroupId, messages: readonly MessageDocument[]): [QueueId, readonly MessageDocument[]][] {
  const places = new Map<string, MessageDocument[]>();
  for (const message of messages) {
    const key = `${message.lane} ${message.path}`;
    const others = places.get(key);
    if (others === undefined) places.set(key, [message]);
    else others.push(message);
  }
  return [...places].flatMap(([place, some]): [QueueId, readonly MessageDocument[]][] =>
    areFew(some)
      ? [[debitQueueId(group, place), some]]
      : queueable(some).map((piece, i) => [debitQueueId(group, `${place} ${piece[0]?.account} ${i}`), piece]),
  );
}

function areFew(messages: readonly MessageDocument[]): boolean {
  return messages.length <= FEW_LINES && messages.reduce((sum, { text }) => sum + text.length, 0) <= FEW_TEXT;
}

/** For messages of one path and lane that nothing became of yet; at least one. */
export function queueDocument(_id: QueueId, messages: readonly MessageDocument[], now: Date): QueueDocument {
  // No carrier claims test messages: nothing becomes of them before they are in `messages`.
  const waitsMs = messages[0]?.path === TEST_PATH ? 0 : WRITE_OUT_MS;
  return { ...head(_id, messages), writeAt: new Date(now.getTime() + waitsMs), lines: packLines(messages) };
}

/** For messages that are in `messages`. */
export function writtenDocument(_id: QueueId, messages: readonly MessageDocument[]): QueueDocument {
  return {
    ...head(_id, messages),
    written: true,
    lines: packLines(messages.map(({ _id, segments }) => ({ _id, segments }))),
  };
}

function head(_id: QueueId, messages: readonly MessageDocument[]): Omit<QueueDocument, 'lines'> {
  const [one] = messages;
  if (one === undefined) throw new Error('a queue document without lines');
  const { path, lane, account, template, batch } = one;
  const isOne = messages.every((other) => other.account === account && other.template === template);
  let [first, last, until] = [one._id, one._id, one.validUntil];
  for (const { _id: id, validUntil } of messages) {
    if (id < first) first = id;
    if (id > last) last = id;
    if (validUntil > until) until = validUntil;
  }
  return {
    ...{ _id, account: isOne ? account : MIXED, path, lane, n: messages.length, next: 0, open: true, claims: [] },
    ...{ first, last, until },
    ...(isOne && template !== undefined ? { template } : {}),
    ...(batch === undefined ? {} : { batch }),
  };
}

/** `same`: the fields in which all messages agree. `each`: the other fields of each. */
interface Packed<M> {
  readonly same: Partial<M>;
  readonly each: readonly Partial<M>[];
}

/** One BSON document, which the store copies as bytes. */
function packLines<M extends object>(messages: readonly M[]): Binary {
  const [one, ...others] = messages;
  if (one === undefined) throw new Error('no lines');
  const same: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(one)) {
    if (others.every((other) => isSame(Reflect.get(other, name), value))) same[name] = value;
  }
  const each = messages.map((message) =>
    Object.fromEntries(Object.entries(message).filter(([name, value]) => value !== undefined && !(name in same))),
  );
  return new Binary(BSON.serialize({ same, each } satisfies Packed<object>, { ignoreUndefined: true }));
}

export function unpackLines<M extends object = MessageDocument>(lines: Binary): readonly M[] {
  const { same, each } = BSON.deserialize(lines.buffer) as Packed<M>; // by `packLines`
  return each.map((own) => ({ ...same, ...own }) as M);
}

export function linesOf({ lines }: Pick<QueueDocument, 'lines'>): readonly MessageDocument[] {
  return unpackLines(lines);
}

/** For texts, numbers, dates, and small documents and lists that are equal when they read the same. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime();
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return JSON.stringify(one) === JSON.stringify(other);
}
