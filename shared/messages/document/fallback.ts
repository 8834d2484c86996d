import type { AnyMessage } from './any-message.ts';
import { applyChange, type Change, entryAt, joinChanges } from './change.ts';
import type { ChatMessageDocument, Fallback, FallbackEnd } from './chat-message.ts';
import { mayHaveLeft, NOT_REFUNDED, UNCONFIRMED } from './copies.ts';
import type { MessageState } from './message.ts';

/**
 * The SMS that goes in place of a chat-app message that fails or is not delivered in time. One update of the chat-app
 * message, which demands the version that was read, writes either that it arrived or that the SMS goes (`decided`),
 * never both. Later news is kept and changes nothing of this (docs/decisions/0055).
 */

/** `error_code` of a message that had not left when its SMS was due: it does not leave any more. */
export const OVERTAKEN = 'overtaken';

const FAILED: readonly (MessageState | undefined)[] = ['failed', 'rejected', 'expired'];
const ARRIVED: readonly (MessageState | undefined)[] = ['delivered', 'read'];
const RETURNED: readonly (MessageState | undefined)[] = ['queued', 'waiting'];

/**
 * Adds what the change means for the fallback: nothing is due any more if the message arrived; the SMS goes if it
 * failed; and if the SMS goes already, or has gone, a message that the provider returns does not leave again.
 */
export function withFallback(message: AnyMessage, change: Change): Change {
  if (!('fallback' in message) || message.fallback === undefined || change.set?.fallback !== undefined) return change;
  const { fallback } = message;
  const { state, entries } = change;
  if (fallback.decided !== undefined) {
    if (!RETURNED.includes(state) || fallback.ended?.kind === 'refused') return change;
    return joinChanges(change, overtaken(applyChange(message, change), fallback.decided.at));
  }
  if (fallback.due === undefined) return change;
  if (ARRIVED.includes(state)) {
    return { ...change, set: { ...change.set, fallback: withoutDue(fallback) } };
  }
  if (!FAILED.includes(state)) return change;
  const at = entries?.at(-1)?.at ?? fallback.due;
  return { ...change, set: { ...change.set, fallback: { ...fallback, due: at, decided: { at, because: 'failed' } } } };
}

/** The SMS goes because its time has come. Undefined before that, or once it is decided. */
export function decideFallback(message: ChatMessageDocument, now: Date): Change | undefined {
  const { fallback, state } = message;
  if (fallback?.due === undefined || fallback.due > now || fallback.decided !== undefined) return undefined;
  const set = { fallback: { ...fallback, decided: { at: now, because: 'not_delivered' } } } as const;
  return RETURNED.includes(state) ? joinChanges({ set }, overtaken(message, now)) : { set };
}

/** Keeps what became of the SMS, with its event. Undefined when that is kept already. */
export function endFallback(message: ChatMessageDocument, ended: FallbackEnd, now: Date): Change | undefined {
  if (message.fallback?.due === undefined) return undefined;
  const fallback = withoutDue(message.fallback);
  const entry = entryAt('fallback', now, message.history);
  const error = ended.kind === 'refused' ? { error: { code: ended.code, reason: ended.reason } } : {};
  return { set: { fallback: { ...fallback, ended } }, entries: [{ ...entry, ...error }] };
}

function withoutDue({ due: _, ...fallback }: Fallback): Fallback {
  return fallback;
}

function overtaken(message: Pick<ChatMessageDocument, 'history' | 'earlier'>, at: Date): Change {
  const mayHave = mayHaveLeft(message);
  const reason = 'It had not left when its SMS was due.';
  return {
    state: 'expired',
    set: {
      errorCode: mayHave ? UNCONFIRMED : OVERTAKEN,
      errorReason: mayHave ? `${reason} ${NOT_REFUNDED}` : reason,
    },
    unset: ['due', 'outcome'],
    entries: [entryAt('expired', at, message.history)],
  };
}
