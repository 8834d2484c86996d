import { errorRule } from '../../shared/carriers/providers/graph-error.ts';
import { chatMessageKey } from '../../shared/carriers/providers/provider.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { type Change, entryAt } from '../../shared/messages/document/change.ts';
import { isCarried } from '../../shared/messages/document/channel.ts';
import { hasEnded } from '../../shared/messages/document/copies.ts';
import type { FinalState, Part } from '../../shared/messages/document/message.ts';
import { sentWith } from '../../shared/messages/settlement/decide-outcome.ts';

/** A test message's outcome, by its recipient's last three digits (docs/magic-numbers.md). It goes to nobody. */
export interface TestOutcome {
  readonly ending: string;
  readonly meaning: string;
  /** The message is taken only after a while, as if it had been refused for now. */
  readonly late?: true;
  readonly refused?: Reason;
  /** What is reported after the message was taken, in order. Absent: the usual reports. */
  readonly reports?: readonly Reported[];
  /** Pauses before a report; one if absent. */
  readonly pauses?: number;
}

interface Reason {
  readonly code: string;
  readonly reason: string;
}

type Reported = 'delivered' | 'read' | (Reason & { readonly state: Exclude<FinalState, 'delivered'> });

const SMS: readonly TestOutcome[] = [
  { ending: '101', meaning: 'failed', reports: [end('failed', '001', 'Not delivered')] },
  { ending: '102', meaning: 'expired', reports: [end('expired', '027', 'Not delivered within its validity')] },
  {
    ending: '103',
    meaning: 'rejected by the network',
    reports: [end('rejected', '052', 'Rejected by the network')],
  },
  { ending: '104', meaning: 'delivered, 10 times later', pauses: 10 },
  { ending: '106', meaning: 'sent, and nothing more', reports: [] },
  { ending: '107', meaning: 'waits for a while, then delivered', late: true },
  {
    ending: '108',
    meaning: 'rejected, and refunded',
    refused: { code: '0x0B', reason: 'Invalid destination address' },
  },
  {
    ending: '114',
    meaning: 'failed by DLT scrubbing (633)',
    reports: [end('failed', '633', 'DLT: the text does not match the template')],
  },
];

const CHATAPP: readonly TestOutcome[] = [
  { ending: '301', meaning: 'sent, then failed (131026)', reports: [ofProvider(131_026, 'Message undeliverable')] },
  { ending: '302', meaning: 'rejected (131026)', refused: ofProvider(131_026, 'Message undeliverable') },
  { ending: '303', meaning: 'rejected (131047)', refused: ofProvider(131_047, 'Re-engagement message') },
  { ending: '304', meaning: 'waits for a while, then delivered', late: true, reports: ['delivered'] },
  { ending: '307', meaning: 'read without delivered', reports: ['read'] },
  { ending: '313', meaning: 'sent, and nothing more', reports: [] },
  {
    ending: '314',
    meaning: 'failed, then delivered all the same',
    reports: [ofProvider(131_026, 'Message undeliverable'), 'delivered'],
  },
  {
    ending: '315',
    meaning: 'sent, then failed: media cannot be had (131053)',
    reports: [ofProvider(131_053, 'Media upload error')],
  },
  { ending: '317', meaning: 'rejected: template paused (132015)', refused: ofProvider(132_015, 'Template is paused') },
  { ending: '318', meaning: 'delivered, not read', reports: ['delivered'] },
  {
    ending: '319',
    meaning: 'rejected (130497): not into this country',
    refused: ofProvider(130_497, 'Business account is restricted from messaging users in this country'),
  },
];

export const TEST_OUTCOMES = { sms: SMS, chatapp: CHATAPP } as const;
const BY_ENDING = {
  sms: new Map(SMS.map((one) => [one.ending, one])),
  chatapp: new Map(CHATAPP.map((one) => [one.ending, one])),
};
const OPERATOR = 'Test';
const PAUSE_MS = 2_000;
const LATE_MS = 10_000;

/** The next change of a test message whose `due` has come. Undefined: the rules of all messages apply. Pure. */
export function decideTest(message: AnyMessage, now: Date): Change | undefined {
  if ('inbound' in message) return received(message, now);
  const outcome = BY_ENDING[isCarried(message.channel) ? 'sms' : 'chatapp'].get(message.to.slice(-3));
  const { state, history, parts = [] } = message;
  const { reports = usual(message), pauses = 1 } = outcome ?? {};
  const later = (ms: number) => ({ due: new Date(now.getTime() + ms) });
  if (state === 'queued') {
    if (outcome?.late) return { state: 'waiting', set: { tries: 1, ...later(LATE_MS) } };
    return outcome?.refused ? refuse(message, outcome.refused, now) : taken();
  }
  if (state === 'waiting') return taken();
  const reached = history.filter((entry) => entry.state !== 'fallback').length;
  const next = history[0]?.state === 'sent' ? reports[reached - 1] : undefined;
  if (next === undefined) return undefined;
  const isLast = reached === reports.length;
  const due = isLast ? {} : later(PAUSE_MS);
  const unset = isLast ? (['due'] as const) : [];
  if (typeof next === 'string') {
    const arrived = message.deliveredAt === undefined ? { deliveredAt: now } : {};
    return {
      state: next,
      set: { ...due, ...arrived, operator: OPERATOR, parts: ended(parts, 'delivered') },
      unset: [...unset, 'errorCode', 'errorReason'],
      entries: [entryAt(next, now, history)],
    };
  }
  const { code, reason } = next;
  // A message that a chat-app provider took and then failed costs nothing.
  const after = isCarried(message.channel) ? next.state : 'refused';
  return {
    state: next.state,
    set: { ...due, errorCode: code, errorReason: reason, parts: ended(parts, after, code) },
    unset,
    entries: [entryAt(next.state, now, history)],
  };

  function taken(): Change {
    const accepted: Part[] =
      'segments' in message
        ? Array.from({ length: message.segments }, () => ({ state: 'accepted' }))
        : [{ state: 'accepted', key: chatMessageKey(message.account, `test.${message._id}`) }];
    const change = sentWith(message, accepted, now);
    return reports.length === 0 ? change : { ...change, set: { ...change.set, ...later(pauses * PAUSE_MS) } };
  }
}

/** A reaction has no reports. */
function usual(message: AnyMessage): readonly Reported[] {
  if (isCarried(message.channel)) return ['delivered'];
  return 'content' in message && message.content.kind === 'reaction' ? [] : ['delivered', 'read'];
}

function received({ history }: AnyMessage, now: Date): Change | undefined {
  return history.length > 0 ? undefined : { unset: ['due'], entries: [entryAt('received', now, history)] };
}

function refuse(message: AnyMessage, { code, reason }: Reason, now: Date): Change {
  return {
    state: 'rejected',
    set: { errorCode: code, errorReason: reason },
    unset: ['due'],
    entries: [entryAt('rejected', now, message.history)],
  };
}

function ended(parts: readonly Part[], state: Part['state'], error?: string): readonly Part[] {
  return parts.map((part) => (hasEnded(part.state) ? part : { ...part, state, ...(error && { error }) }));
}

function ofProvider(number: number, words: string) {
  const code = errorRule(number)?.code ?? 'provider_refused';
  return end('failed', code, `(${number}) ${words}`);
}

function end(state: Exclude<FinalState, 'delivered'>, code: string, reason: string) {
  return { state, code, reason };
}
