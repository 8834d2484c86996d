import type { InboundPart } from '../../../shared/inbound/inbound.ts';
import type { InboundId } from '../../../shared/runtime/ids.ts';
import type { Arrival } from './arrivals.ts';

/** The parts of one message, as far as they came. */
export interface PartSet {
  readonly id: InboundId;
  readonly key: string;
  readonly total: number;
  /** By their numbers. */
  readonly parts: Map<number, Arrival>;
  /** When it is told without those that are missing. */
  dueMs: number;
}

/** Most messages that wait for parts; a flood of first parts ends the oldest early. */
const SETS_MAX = 10_000;
/** A part that comes again within this time of its whole message is the same part, not one of another message. */
const REPEATED_MS = 60_000;

/**
 * The messages of a carrier that wait for parts. Handsets use references again, and some use always the same: a part that the
 * message with this reference has already, with other octets, begins another message.
 */
export class PartSets {
  /** Not told yet; oldest first. */
  readonly #open = new Map<InboundId, PartSet>();
  /** The last one with each reference, also when it is whole: then until nothing of it is expected again. */
  readonly #last = new Map<string, { readonly set: PartSet; readonly untilMs: number }>();

  /** The message that this part belongs to, while it is not told. */
  of({ set }: InboundPart): PartSet | undefined {
    return this.#open.get(set);
  }

  /** The part that this one repeats. */
  same(key: string, number: number, fingerprint: string): Arrival | undefined {
    const part = this.#last.get(key)?.set.parts.get(number);
    return part?.document.fingerprint === fingerprint ? part : undefined;
  }

  /** The message that lacks this part. */
  lacking(key: string, number: number): PartSet | undefined {
    const set = this.#last.get(key)?.set;
    return set === undefined || set.parts.has(number) || !this.#open.has(set.id) ? undefined : set;
  }

  place(arrival: Arrival, { set: id, key, number, total }: InboundPart, nowMs: number): void {
    const { due, at } = arrival.document;
    const last = this.#last.get(key)?.set;
    const dueMs = (due ?? at).getTime();
    const set = this.#open.get(id) ?? { id, key, total, parts: new Map(), dueMs };
    set.parts.set(number, arrival);
    this.#open.set(id, set);
    // No part of it will come any more.
    if (last !== undefined && last.id !== id) last.dueMs = Math.min(last.dueMs, nowMs);
    this.#last.set(key, { set, untilMs: Math.max(dueMs, nowMs + REPEATED_MS) });
  }

  /** It is told. */
  close(set: PartSet, nowMs: number): void {
    this.#open.delete(set.id);
    if (this.#last.get(set.key)?.set === set) this.#last.set(set.key, { set, untilMs: nowMs + REPEATED_MS });
  }

  /** Those whose time is over, and the oldest of too many. */
  takeOverdue(nowMs: number): PartSet[] {
    for (const [key, { set, untilMs }] of this.#last) {
      if (untilMs <= nowMs && !this.#open.has(set.id)) this.#last.delete(key);
    }
    const tooMany = this.#open.size - SETS_MAX;
    const overdue = [...this.#open.values()].filter((set, i) => i < tooMany || isOver(set, nowMs));
    for (const { id } of overdue) this.#open.delete(id);
    return overdue;
  }
}

export function isComplete({ parts, total }: PartSet): boolean {
  return parts.size === total && isStored(parts);
}

/** What is just being stored is waited for. */
function isOver({ parts, dueMs }: PartSet, nowMs: number): boolean {
  return dueMs <= nowMs && (isStored(parts) || dueMs + REPEATED_MS <= nowMs);
}

function isStored(parts: PartSet['parts']): boolean {
  return [...parts.values()].every(({ stored }) => stored);
}
