import type { ChatMessageDocument, FallbackEnd } from '../../messages/document/chat-message.ts';
import { mayHaveLeft } from '../../messages/document/copies.ts';
import type { MessageState } from '../../messages/document/message.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';

/**
 * What a message's state means for the charge of its conversation. `taken`: the provider accepted it, or may have accepted it (it
 * is claimed, its outcome is unknown, it ended without proof, or an earlier copy is in doubt). `waits`: it has not left.
 * `refused`: it never left, or the provider refused it, at once or by a later status.
 */
export type Fate = 'taken' | 'waits' | 'refused';

/** A message of a conversation. */
export interface Member {
  readonly _id: MessageId;
  readonly fate: Fate;
}

/** The decision about a conversation's charge. */
export type Verdict =
  | { readonly kind: 'stands' }
  /** The opener failed, and this message was taken or may have been. It becomes the opener; nothing is refunded. */
  | { readonly kind: 'passes_on'; readonly successor: MessageId }
  /** The provider certainly accepted no message of the conversation. */
  | { readonly kind: 'refunded' };

/**
 * The rule for a conversation's charge: it stays paid while any of its messages was taken or may be taken. It is refunded when
 * certainly none was (docs/decisions/0016). `opener`: the message that it is charged with now; undefined when that is not stored
 * (any more), which proves nothing. `others`: the possible successors in order. Pure.
 */
export function judgeCharge(opener: Member | undefined, others: readonly Member[]): Verdict {
  if (opener?.fate !== 'refused') return { kind: 'stands' };
  const successor = others.find(({ fate }) => fate === 'taken');
  return successor === undefined ? { kind: 'refunded' } : { kind: 'passes_on', successor: successor._id };
}

/** A message whose SMS went counts as refused: the SMS is paid for, so it is not, whatever is heard of it later. */
export function fateOf(
  message: Pick<ChatMessageDocument, 'state' | 'parts' | 'earlier'> & {
    readonly fallback?: { readonly ended?: Pick<FallbackEnd, 'kind'> };
  },
): Fate {
  if (message.fallback?.ended?.kind === 'sent') return 'refused';
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
