import type { InboundPart } from '../../../shared/messages/inbound.ts';
import type { InboundId } from '../../../shared/platform/runtime/ids.ts';
import type { Arrival } from './arrivals.ts';

/** The parts of one message that have come so far. */
export interface PartSet {
  readonly id: InboundId;
  readonly key: string;
  readonly total: number;
  /** The parts by their numbers. */
  readonly parts: Map<number, Arrival>;
  /** At this time the message is stored without its missing parts. */
  dueMs: number;
}

/** The most messages that wait for parts. If there are more, the oldest ones stop waiting. */
const SETS_MAX = 10_000;
/** If a part comes again within this time after its message was complete, it is the same part and not one of a new message. */
const REPEATED_MS = 60_000;

/**
 * The messages of a carrier that wait for parts. Handsets use references again, and some always use the same one. So if a message
 * already has this part with other octets, the part begins a new message.
 */
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

  /** The messages that wait for parts. */
  get waiting(): readonly PartSet[] {
    return [...this.#open.values()];
  }

  /** Adds a part to its message. */
  place(arrival: Arrival, { set: id, key, number, total }: InboundPart, nowMs: number): void {
    const { due, at } = arrival.document;
    const last = this.#last.get(key)?.set;
    const dueMs = (due ?? at).getTime();
    const set = this.#open.get(id) ?? { id, key, total, parts: new Map(), dueMs };
    set.parts.set(number, arrival);
    this.#open.set(id, set);
    // A newer message uses the reference now, so no more parts of the last one will come.
    if (last !== undefined && last.id !== id) last.dueMs = Math.min(last.dueMs, nowMs);
    this.#last.set(key, { set, untilMs: Math.max(dueMs, nowMs + REPEATED_MS) });
  }

  /** The message is complete and waits no longer. */
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

/** Whether a part is just being stored. If its message were given up now, the part would become no message. */
function isBeingStored({ parts }: PartSet): boolean {
  return [...parts.values()].some(({ stored, refused }) => !stored && refused !== true);
}

function isStored(parts: PartSet['parts']): boolean {
  return [...parts.values()].every(({ stored }) => stored);
}
