import { type Change, entryAt } from './change.ts';
import type { FinalState, MessageDocument, Part, PartState, StoredMessage } from './message.ts';
import { mayBecome, STATES } from './status.ts';

/** What a receipt says of one part of a message. */
export interface PartReceipt {
  readonly state: FinalState;
  /** The carrier's error text. */
  readonly error?: string;
  /** In words, for `error_reason`. */
  readonly reason?: string;
  /** When the carrier says it happened. */
  readonly doneAt?: Date;
  /** The carrier's name, for people. */
  readonly operator: string;
}

/** `none`: the part is settled already (the same receipt again, or a later one that says less). */
export type ReceiptDecision = { readonly kind: 'change'; readonly change: Change } | { readonly kind: 'none' };

/** The carrier's clock may run this far ahead of ours. */
const MAX_AHEAD_MS = 5 * 60_000;
/** Dates of receipts are often whole minutes. */
const MAX_BEFORE_MS = 60_000;

/**
 * The change that a receipt makes to the parts with its id: usually one, but some carriers give all segments the same. A status
 * never goes backwards; a message ends when its last part does.
 */
export function decideReceipt(message: MessageDocument, key: string, receipt: PartReceipt, now: Date): ReceiptDecision {
  const { parts = [] } = message;
  const told = parts.map((part) =>
    part.key === key && mayReplace(part.state, receipt.state) ? toldOf(part, receipt) : part,
  );
  if (told.every((part, i) => part === parts[i])) return { kind: 'none' };
  return { kind: 'change', change: withParts(message, told, receipt, now) };
}

/**
 * The change that a receipt makes to a message whose submit was never answered and which is the only one that it fits: the
 * id in the receipt is taken for that of the first part that has none.
 */
export function decideUnknown(message: MessageDocument, key: string, receipt: PartReceipt, now: Date): ReceiptDecision {
  const known: readonly Part[] =
    message.parts ?? Array.from({ length: message.segments }, () => ({ state: 'unknown' as const }));
  const index = known.findIndex((part) => part.key === undefined && part.state === 'unknown');
  if (message.state !== 'submitting' || message.outcome !== 'unknown' || index === -1) return { kind: 'none' };
  const parts = known.with(index, toldOf({ key, state: 'unknown' }, receipt));
  return { kind: 'change', change: withParts(message, parts, receipt, now) };
}

function toldOf(part: Part, { state, error }: PartReceipt): Part {
  return { ...part, state, ...(error === undefined ? {} : { error }) };
}

/** The state in which a message with these parts ends; undefined while one of them may still change. */
export function finalState(parts: readonly Part[]): FinalState | undefined {
  // A part without an id has no receipt of its own: some carriers give one id, or one receipt, for all.
  const telling = parts.filter((part) => part.key !== undefined || part.state === 'refused');
  if (telling.length === 0) return undefined;
  const states = telling.map((part) => (part.state === 'refused' ? 'failed' : part.state));
  return states.every((state) => isFinal(state)) ? worst(states) : undefined;
}

/**
 * What an answer or the carrier's policy makes of a message that counts as sent with these parts: receipts may have come before,
 * and have told how it ended.
 */
export function sentWith(message: StoredMessage, parts: readonly Part[], now: Date): Change {
  const sent = entryAt('sent', now, message.history);
  const final = finalState(parts);
  if (final === undefined) {
    const unset = message.outcome === undefined ? {} : { unset: ['outcome'] as const };
    return { state: 'sent', set: { parts }, ...unset, entries: [sent] };
  }
  const partial = parts.some(({ state }) => state === 'refused');
  const error = partial ? 'partial' : parts.find(({ state }) => state === final)?.error;
  return {
    state: final,
    set: {
      parts,
      ...(final === 'delivered' ? { deliveredAt: now } : {}),
      ...(final === 'delivered' || error === undefined ? {} : { errorCode: error }),
      ...(partial ? { errorReason: 'The carrier refused a segment' } : {}),
    },
    unset: ['due', 'outcome'],
    entries: [sent, entryAt(final, now, [sent])],
  };
}

function withParts(message: MessageDocument, parts: readonly Part[], receipt: PartReceipt, now: Date): Change {
  const entries = [];
  let state = message.state;
  const history = [...message.history];
  if (state === 'submitting' && parts.every((part) => part.key !== undefined)) {
    // All its ids are known now: every part was accepted, although no answer said so.
    state = 'sent';
    const sent = entryAt('sent', now, history);
    entries.push(sent);
    history.push(sent);
  }
  const final = finalState(parts);
  if (final === undefined || state === 'submitting' || !mayBecome(state, final, history, now)) {
    // What ends it later, an answer or the carrier's policy, does not know who delivered.
    const knowsOperator = state === 'submitting' && receipt.state === 'delivered';
    const set = knowsOperator ? { parts, operator: receipt.operator } : { parts };
    return state === message.state
      ? { set }
      : { state, set, unset: message.outcome === undefined ? [] : ['outcome'], entries };
  }
  entries.push(entryAt(final, now, history));
  return {
    state: final,
    set: { parts, ...finalFields(final, parts, receipt, message, now) },
    unset: final === 'delivered' ? ['due', 'outcome', 'errorCode', 'errorReason'] : ['due', 'outcome'],
    entries,
  };
}

function finalFields(
  final: FinalState,
  parts: readonly Part[],
  receipt: PartReceipt,
  message: MessageDocument,
  now: Date,
): NonNullable<Change['set']> {
  if (final === 'delivered') {
    return { operator: receipt.operator, deliveredAt: deliveredAt(receipt.doneAt, message, now) };
  }
  const code = parts.find((part) => part.state === final && part.error !== undefined)?.error ?? receipt.error;
  const reason = code === receipt.error ? receipt.reason : undefined;
  return {
    ...(code === undefined ? {} : { errorCode: code }),
    ...(reason === undefined ? {} : { errorReason: reason }),
  };
}

/** The carrier's own time when it can be true (after the submit, not in the future), else now. */
function deliveredAt(done: Date | undefined, message: MessageDocument, now: Date): Date {
  const sentMs = message.claim?.at.getTime() ?? 0;
  if (done === undefined) return now;
  const doneMs = done.getTime();
  if (doneMs < sentMs - MAX_BEFORE_MS || doneMs > now.getTime() + MAX_AHEAD_MS) return now;
  return new Date(Math.min(Math.max(doneMs, sentMs), now.getTime()));
}

function mayReplace(state: PartState, next: FinalState): boolean {
  if (state === 'refused') return false;
  if (state === 'accepted' || state === 'unknown') return true;
  return state !== next && next === 'delivered' && STATES.delivered.from.includes(state);
}

function isFinal(state: PartState): state is FinalState {
  return state !== 'accepted' && state !== 'unknown' && state !== 'refused';
}

const RANK: readonly PartState[] = ['delivered', 'expired', 'failed', 'rejected'];

/** The worst of final states: one part that did not arrive spoils the whole. */
function worst(states: readonly PartState[]): FinalState {
  const rank = Math.max(...states.map((state) => RANK.indexOf(state)));
  const state = RANK[rank];
  if (state === undefined || !isFinal(state)) throw new Error('a part of a message has no final state');
  return state;
}
