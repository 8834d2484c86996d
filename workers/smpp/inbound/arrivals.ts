import type { DeliverVia } from '../../../shared/carriers/smpp/session.ts';
import type { InboundDocument, InboundPart } from '../../../shared/messages/inbound.ts';
import type { InboundId } from '../../../shared/platform/runtime/ids.ts';

/** A deliver_sm with a handset's message. It is stored, or is being stored. */
export interface Arrival {
  readonly document: InboundDocument;
  /** The session and PDU that it last came in. Absent if an earlier holder of the carrier received it. */
  via?: DeliverVia;
  /** When it last came. */
  cameMs: number;
  /** When we wrote our answer. Absent while there is no answer, or if the answer refused it for now. */
  answeredMs?: number | undefined;
  /** The deliver_sm was refused for now, because it could not be stored: an equal one is the carrier's second try. */
  refused?: boolean;
  stored: boolean;
  /** The message is stored and announced, or belongs to no account and is kept for the operator. */
  announced: boolean;
  /** The carrier certainly has our answer: an equal deliver_sm is a new message. */
  sure: boolean;
}

/** A carrier that sends anything this long after our answer has it: TCP would have repeated a lost one sooner. */
const SURE_MS = 1_000;
/** No carrier repeats a deliver_sm on the same session sooner: an equal one is a new message. */
const SOONEST_RESEND_MS = 1_000;
/** If our answer was lost, the carrier repeats the deliver_sm within this time. */
const RESENT_MS = 3_600_000;

/**
 * Remembers recent deliver_sm, so that one that the carrier repeats (our answer was lost or late) is not taken for a
 * second message with the same text: a person may write "yes" twice. docs/decisions/0014 has the rules. The memory is
 * complete, because only the holder of the carrier's lease receives.
 */
export class Arrivals {
  readonly #byFingerprint = new Map<string, Arrival[]>();
  readonly #byId = new Map<InboundId, Arrival>();

  byId(id: InboundId): Arrival | undefined {
    return this.#byId.get(id);
  }

  repeated(fingerprint: string, via: DeliverVia, nowMs: number): Arrival | undefined {
    return this.#byFingerprint.get(fingerprint)?.find((arrival) => isRepeat(arrival, via, nowMs));
  }

  add(arrival: Arrival): void {
    const { _id, fingerprint } = arrival.document;
    this.#byId.set(_id, arrival);
    const equal = this.#byFingerprint.get(fingerprint);
    if (equal === undefined) this.#byFingerprint.set(fingerprint, [arrival]);
    else equal.push(arrival);
  }

  /** Forgets deliver_sm that need not be remembered any more, and returns them. Parts of an incomplete message stay. */
  takeFinished(nowMs: number): Arrival[] {
    const finished: Arrival[] = [];
    for (const [fingerprint, equal] of this.#byFingerprint) {
      const kept = equal.filter((arrival) => {
        arrival.sure ||= isSure(arrival) || nowMs - arrival.cameMs >= RESENT_MS;
        return !(arrival.sure && (arrival.announced || !arrival.stored));
      });
      if (kept.length === equal.length) continue;
      for (const arrival of equal) {
        if (kept.includes(arrival)) continue;
        this.#byId.delete(arrival.document._id);
        finished.push(arrival);
      }
      if (kept.length > 0) this.#byFingerprint.set(fingerprint, kept);
      else this.#byFingerprint.delete(fingerprint);
    }
    return finished;
  }
}

function isRepeat(arrival: Arrival, now: DeliverVia, nowMs: number): boolean {
  const { via, cameMs, answeredMs, refused, sure } = arrival;
  if (refused === true) return true;
  if (via === undefined) return !sure;
  if (via.session === now.session && via.sequence === now.sequence) return true;
  if (sure || isSure(arrival)) return false;
  if (!via.session.open) return true;
  // Either the carrier has waited too long for our answer, or our answer and its second try have crossed.
  return nowMs - cameMs >= SOONEST_RESEND_MS && (answeredMs === undefined || nowMs - answeredMs < SOONEST_RESEND_MS);
}

function isSure({ via, answeredMs }: Arrival): boolean {
  if (via === undefined || answeredMs === undefined) return false;
  const { heardMs, unboundMs } = via.session;
  // A carrier that answered our unbind has read all that we wrote before it.
  return heardMs - answeredMs >= SURE_MS || (unboundMs !== undefined && answeredMs <= unboundMs);
}

export interface PartSet {
  readonly id: InboundId;
  readonly key: string;
  readonly total: number;
  readonly parts: Map<number, Arrival>;
  /** At this time the message is stored without its missing parts. */
  dueMs: number;
}

/** The most messages that wait for parts. Beyond it, the oldest ones stop waiting. */
const SETS_MAX = 10_000;
/** A part that comes again within this time after its message was complete is a repeat, not part of a new message. */
const REPEATED_MS = 60_000;

/** Handsets reuse references: if a waiting message already has this part with other octets, a new one begins. */
export class PartSets {
  /** Messages that still wait, the oldest first. */
  readonly #open = new Map<InboundId, PartSet>();
  /** The last message with each reference. A complete one is kept until no part of it is expected again. */
  readonly #last = new Map<string, { readonly set: PartSet; readonly untilMs: number }>();

  /** The message of this part, while it still waits. */
  of({ set }: InboundPart): PartSet | undefined {
    return this.#open.get(set);
  }

  /** The stored part that this one repeats. */
  same(key: string, number: number, fingerprint: string): Arrival | undefined {
    const part = this.#last.get(key)?.set.parts.get(number);
    return part?.document.fingerprint === fingerprint ? part : undefined;
  }

  /** The message that lacks this part. */
  lacking(key: string, number: number): PartSet | undefined {
    const set = this.#last.get(key)?.set;
    return set === undefined || set.parts.has(number) || !this.#open.has(set.id) ? undefined : set;
  }

  get waiting(): readonly PartSet[] {
    return [...this.#open.values()];
  }

  place(arrival: Arrival, { set: id, key, number, total }: InboundPart, nowMs: number): void {
    const { due, at } = arrival.document;
    const last = this.#last.get(key)?.set;
    const dueMs = (due ?? at).getTime();
    const set = this.#open.get(id) ?? { id, key, total, parts: new Map(), dueMs };
    set.parts.set(number, arrival);
    this.#open.set(id, set);
    // A newer message uses the reference now: no more parts of the last one will come.
    if (last !== undefined && last.id !== id) last.dueMs = Math.min(last.dueMs, nowMs);
    this.#last.set(key, { set, untilMs: Math.max(dueMs, nowMs + REPEATED_MS) });
  }

  close(set: PartSet, nowMs: number): void {
    this.#open.delete(set.id);
    if (this.#last.get(set.key)?.set === set) this.#last.set(set.key, { set, untilMs: nowMs + REPEATED_MS });
  }

  /** Messages whose time is over, and the oldest ones if there are too many. */
  takeOverdue(nowMs: number): PartSet[] {
    for (const [key, { set, untilMs }] of this.#last) {
      if (untilMs <= nowMs && !this.#open.has(set.id)) this.#last.delete(key);
    }
    const tooMany = this.#open.size - SETS_MAX;
    const overdue = [...this.#open.values()].filter(
      (set, i) => (i < tooMany || isOver(set, nowMs)) && !isBeingStored(set),
    );
    for (const { id } of overdue) this.#open.delete(id);
    return overdue;
  }
}

export function isComplete({ parts, total }: PartSet): boolean {
  return parts.size === total && isStored(parts);
}

/** A message with parts that were refused is given some more time. */
function isOver({ parts, dueMs }: PartSet, nowMs: number): boolean {
  return dueMs <= nowMs && (isStored(parts) || dueMs + REPEATED_MS <= nowMs);
}

/** If the message were given up now, a part that is being stored would become no message. */
function isBeingStored({ parts }: PartSet): boolean {
  return [...parts.values()].some(({ stored, refused }) => !stored && refused !== true);
}

function isStored(parts: PartSet['parts']): boolean {
  return [...parts.values()].every(({ stored }) => stored);
}
