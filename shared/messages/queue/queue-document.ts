import { Binary, BSON } from 'mongodb';
import type { AccountId, BatchId, MessageId, QueueId } from '../../platform/runtime/ids.ts';
import type { Claim, MessageDocument } from '../document/message.ts';

/**
 * What waits to be sent: SMS of one account, path, lane and template, in the order in which they leave. One is a *line*. A message
 * is inserted into `messages` when something became of it; until then its line is all that there is of it.
 *
 *     {
 *       _id: 'que_01kq…_0', account: 'acc_1', path: 'transactional', lane: 1, n: 3, next: 2, open: true,
 *       claims: [{id: 'clm_1', carrier: 'airtel', epoch: 4, at, from: 0, to: 2}],
 *       first: 'msg_1', last: 'msg_3', until, writeAt, lines: <binary>,
 *     }
 *
 * **Who decides.** Lines before `next` belong to their claims. Of the others, `next` decides: a claim raises it by one update that
 * names the value that was read. In a document that is `written`, all messages are in `messages`, and their own `state` decides
 * (queued → submitting): so they can be cancelled, expired and moved there. A document becomes `written` by an update that names
 * `next` too. Whatever comes back from a carrier comes back as lines of a new document that is `written`.
 *
 * **Its end.** It is removed when no line is left and all claimed ones are in `messages`.
 */
export interface QueueDocument {
  readonly _id: QueueId;
  readonly account: AccountId;
  readonly path: string;
  readonly lane: number;
  /** DLT id of the template of all lines. */
  readonly template?: string;
  readonly batch?: BatchId;
  /** Number of lines. */
  readonly n: number;
  /** The first line that nobody has claimed. */
  readonly next: number;
  /** Set while `next < n`: only these are in the claim's index. */
  readonly open?: true;
  /** All claims that were made of it, also those whose messages were settled meanwhile. */
  readonly claims: readonly QueueClaim[];
  readonly written?: true;
  /** When its messages are to be inserted although nothing became of them (write-out.ts). Unset when they are. */
  readonly writeAt?: Date;
  /**
   * An insert of it may still come late, from a process that was thought dead. So it is not removed at its end, but stays for a day
   * and refuses that insert.
   */
  readonly keep?: true;
  /** Set at the end of a kept one. */
  readonly removeAt?: Date;
  /** The least and the greatest id of its messages. */
  readonly first: MessageId;
  readonly last: MessageId;
  /** When the validity of all its messages is over. */
  readonly until: Date;
  /** The messages, as BSON (`packLines`). */
  readonly lines: Binary;
}

/** The lines from `from` up to, not including, `to`. */
export interface QueueClaim extends Claim {
  readonly from: number;
  readonly to: number;
  /** The document was written: these messages become `submitting` in `messages`. */
  readonly written?: true;
}

/** Most lines of a document, and most bytes of text in it: a claim of some of them rewrites it. */
const LINES_MAX = 200;
const TEXT_MAX = 32_000;

/** How long lines may wait before their messages are inserted, so that lists, searches and counts have them. */
export const WRITE_OUT_MS = 3_000;

/** Fields in which all messages of a queue document agree. */
type Kind = Pick<MessageDocument, 'account' | 'path' | 'lane' | 'template' | 'batch'>;

/** Messages that may be in one queue document, in their order, in pieces that it can hold. */
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

/** A document of messages that nothing became of yet. All of one kind (`queueable`), at least one. */
export function queueDocument(_id: QueueId, messages: readonly MessageDocument[], now: Date): QueueDocument {
  return { ...head(_id, messages), writeAt: new Date(now.getTime() + WRITE_OUT_MS), lines: packLines(messages) };
}

/** A document of messages that are in `messages`. */
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
  const { account, path, lane, template, batch } = one;
  let [first, last, until] = [one._id, one._id, one.validUntil];
  for (const { _id: id, validUntil } of messages) {
    if (id < first) first = id;
    if (id > last) last = id;
    if (validUntil > until) until = validUntil;
  }
  return {
    ...{ _id, account, path, lane, n: messages.length, next: 0, open: true, claims: [], first, last, until },
    ...(template === undefined ? {} : { template }),
    ...(batch === undefined ? {} : { batch }),
  };
}

/** `same`: the fields in which all messages agree. `each`: the other fields of each. */
interface Packed<M> {
  readonly same: Partial<M>;
  readonly each: readonly Partial<M>[];
}

/** The lines as one BSON document. The store copies it as bytes. */
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

/** Of values that messages have: texts, numbers, dates, and small documents and lists that are equal when they read the same. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime();
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return JSON.stringify(one) === JSON.stringify(other);
}
