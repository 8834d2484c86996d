import type { ChatMessageDocument } from '../messages/chat-message.ts';
import { mayHaveLeft } from '../messages/copies.ts';
import type { MessageState } from '../messages/message.ts';
import type { MessageId } from '../runtime/ids.ts';

/**
 * What a message's state says about the money of the conversation that it goes in. `taken`: the provider took it, or may have
 * (claimed, unknown, ended without proof, or sent before and in doubt). `waits`: it has not left. `refused`: it never left, or the provider said no, at once
 * or later by a status.
 */
export type Fate = 'taken' | 'waits' | 'refused';

/** A message of a conversation. */
export interface Member {
  readonly _id: MessageId;
  readonly fate: Fate;
}

/** What becomes of a conversation's charge. */
export type Verdict =
  | { readonly kind: 'stands' }
  /** Its opener failed, and this one was taken, or may have been: it is the opener from now on. Nothing is given back. */
  | { readonly kind: 'passes_on'; readonly heir: MessageId }
  /** Surely nothing of it was taken. */
  | { readonly kind: 'void' };

/**
 * The one rule about a conversation's money: it stays paid while something of it was taken, or may be; when surely nothing was,
 * it is given back (docs/decisions/0013). `opener` is who it is charged with now; undefined when that is not stored (any
 * more), which proves nothing. `others` in the order in which they are asked to follow. Pure.
 */
export function judgeCharge(opener: Member | undefined, others: readonly Member[]): Verdict {
  if (opener?.fate !== 'refused') return { kind: 'stands' };
  const heir = others.find(({ fate }) => fate === 'taken');
  return heir === undefined ? { kind: 'void' } : { kind: 'passes_on', heir: heir._id };
}

export function fateOf(message: Pick<ChatMessageDocument, 'state' | 'parts' | 'earlier'>): Fate {
  if (mayHaveLeft(message)) return 'taken';
  const { state, parts = [] } = message;
  const nothingTaken = parts.every((part) => part.state === 'refused');
  switch (state satisfies MessageState) {
    case 'queued':
    case 'waiting':
      return 'waits';
    case 'rejected':
    case 'expired':
      return nothingTaken ? 'refused' : 'taken';
    case 'failed':
      return parts.length > 0 && nothingTaken ? 'refused' : 'taken';
    case 'submitting':
    case 'sent':
    case 'delivered':
    case 'read':
    case 'received':
      return 'taken';
  }
}
