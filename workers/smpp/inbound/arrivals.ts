import type { InboundDocument } from '../../../shared/inbound/inbound.ts';
import type { InboundId } from '../../../shared/runtime/ids.ts';
import type { DeliverVia } from '../session/session.ts';

/** A deliver_sm with a handset's message that is stored, or being stored. */
export interface Arrival {
  readonly document: InboundDocument;
  /** Where it came from last. Absent for what an earlier holder of the carrier left. */
  via?: DeliverVia;
  /** When it came last. */
  cameMs: number;
  /** When our answer to it was written; unset when there is none yet, or when it refused for now. */
  answeredMs?: number | undefined;
  /** It was refused for now, because it could not be stored: what is equal is the second try. */
  refused?: boolean;
  stored: boolean;
  /** The message that it became is stored and announced, or it is kept as belonging to nobody. */
  told: boolean;
  /** Our answer has surely arrived: what is equal is another message. */
  sure: boolean;
}

/** Whoever sends something so long after our answer has it: TCP repeats what was lost sooner. */
const SURE_MS = 1_000;
/** No carrier gives up waiting for an answer sooner than this; an equal deliver_sm that comes sooner is another message. */
const SOONEST_RESEND_MS = 1_000;
/** When our answer was lost, the carrier sends again within this time. */
const RESENT_MS = 3_600_000;

/**
 * What came lately, to tell a deliver_sm that is sent again (our answer was lost, or was late) from a second, equal message: a
 * person who writes "yes" twice. docs/decisions/0048 has the rules. Only the holder of the carrier's lease receives, so this
 * memory is complete.
 */
export class Arrivals {
  readonly #byFingerprint = new Map<string, Arrival[]>();
  readonly #byId = new Map<InboundId, Arrival>();

  byId(id: InboundId): Arrival | undefined {
    return this.#byId.get(id);
  }

  /** The stored deliver_sm that this one repeats; undefined when it is a new one. */
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

  /** The sessions have ended in order: what was answered has arrived. */
  endedInOrder(): void {
    for (const arrival of this.#byId.values()) arrival.sure ||= arrival.answeredMs !== undefined;
  }

  /** Forgets those that need no memory any more, and returns them; parts of a message that is not whole stay. */
  takeFinished(nowMs: number): Arrival[] {
    const finished: Arrival[] = [];
    for (const [fingerprint, equal] of this.#byFingerprint) {
      const kept = equal.filter((arrival) => {
        arrival.sure ||= isSure(arrival) || nowMs - arrival.cameMs >= RESENT_MS;
        return !(arrival.sure && (arrival.told || !arrival.stored));
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
  // On a session that lives: the carrier has waited in vain, or our answer and its second try have crossed.
  return nowMs - cameMs >= SOONEST_RESEND_MS && (answeredMs === undefined || nowMs - answeredMs < SOONEST_RESEND_MS);
}

function isSure({ via, answeredMs }: Arrival): boolean {
  return via !== undefined && answeredMs !== undefined && via.session.heardMs - answeredMs >= SURE_MS;
}
