import { STATUS } from '../../../shared/carriers/command-status.ts';
import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import type { DeliverVia } from '../../../shared/carriers/smpp/session.ts';
import { findUnfinished, keepInbound, removeInbound } from '../../../shared/messages/inbound.ts';
import { LeaseLostError } from '../../../shared/messages/settlement/intents.ts';
import { type End, storeApart } from '../../../shared/platform/runtime/apart.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { Grouper } from '../../../shared/platform/runtime/grouper.ts';
import type { InboundId } from '../../../shared/platform/runtime/ids.ts';
import { errorFields, unexpectedErrorFields } from '../../../shared/platform/runtime/log.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import { DeliverRefusals, isOfDeliver, REFUSAL_STATUS } from '../session/deliver-refusals.ts';
import type { InboundAnnouncer } from './announce-inbound.ts';
import { type Arrival, Arrivals, isComplete, type PartSet, PartSets } from './arrivals.ts';
import { documentOf, type Incoming, readIncoming } from './incoming.ts';
import { type DefaultAlphabet, joinedText, textOf, type WholeText } from './whole-text.ts';

export interface InboundOptions extends CarrierContext {
  readonly inboundAnnouncer: InboundAnnouncer;
  readonly rules: InboundRules;
  /** Called when nothing can be stored. The carrier then has to wait. */
  slowDown(): void;
}

export interface InboundRules {
  /** How long the parts of a message wait for its other parts. */
  readonly partsMs: number;
  /** Whether messages to numbers without an account are refused. Otherwise they are kept for the operator. */
  readonly refuseUnassigned: boolean;
}

/** For the metrics. `incomplete`: stored without some parts. `failed` comes again; `unstorable`: refused for good. */
type InboundResult =
  | 'received'
  | 'unassigned'
  | 'part'
  | 'incomplete'
  | 'repeated'
  | 'refused'
  | 'failed'
  | 'unstorable';

const MAX_GROUP = 500;
const GATHER_MS = 5;
/** Under load a group costs three commands to the store, however many deliver_sm it has. */
const PAUSE_MS = 20;
const RECOVER_PAGE = 1_000;

/**
 * Receives the messages of handsets, in groups. Each deliver_sm is stored, becomes a message of the number's account,
 * alone or with its other parts, and then is answered. Receipts have groups of their own, so that neither flood delays
 * the other. docs/decisions/0014 says how nothing is lost or announced twice when a process dies.
 */
export class Inbound {
  readonly #options: InboundOptions;
  readonly #alphabet: DefaultAlphabet;
  readonly #arrivals = new Arrivals();
  readonly #sets = new PartSets();
  readonly #refusals = new DeliverRefusals();
  readonly #grouper: Grouper<Arrival, End>;
  /** Stored texts that are not messages yet: a try failed, or nobody waits for their missing parts any more. */
  #unannounced: WholeText[] = [];
  readonly #finished = new Set<InboundId>();
  /** A group may have been stored although the store gave no answer. */
  #uncertain = false;

  constructor(options: InboundOptions) {
    this.#options = options;
    this.#alphabet = options.carrier.texts?.alphabet ?? 'gsm';
    this.#grouper = new Grouper({
      maxItems: MAX_GROUP,
      gatherMs: GATHER_MS,
      pauseMs: PAUSE_MS,
      windowed: true,
      run: (arrivals) => storeApart(arrivals, (some) => this.#store(some), isOfDeliver),
    });
  }

  get idle(): boolean {
    return this.#grouper.idle;
  }

  /** Never rejects. */
  async take(deliver: Deliver, answer: (status: number) => void, via: DeliverVia): Promise<void> {
    const { clock, log, metrics, carrier, inboundAnnouncer, rules, slowDown } = this.#options;
    let arrival: Arrival | undefined;
    try {
      if (rules.refuseUnassigned && !(await inboundAnnouncer.isOurs(deliver.to))) {
        this.#count('refused');
        metrics.inboundRefused.inc({ carrier: carrier._id });
        answer(STATUS.receiverRejects);
        return;
      }
      const incoming = readIncoming(deliver);
      arrival = this.#repeated(incoming, via) ?? this.#begin(incoming, via);
      if (!arrival.stored) {
        const { error } = await this.#grouper.add(arrival);
        if (error !== undefined) throw error;
      }
      arrival.answeredMs = clock.monotonicMs();
      answer(STATUS.ok);
    } catch (error) {
      const refusal = this.#refusals.refusal(error, deliver);
      const announced = { carrier: carrier._id, ...unexpectedErrorFields(error) };
      if (refusal === 'never') log.error('inbound_unstorable', announced);
      else log.warn('inbound_not_stored', announced);
      this.#uncertain = true;
      if (arrival !== undefined) arrival.refused = true;
      this.#count(refusal === 'never' ? 'unstorable' : 'failed');
      if (refusal === 'wait') slowDown();
      answer(REFUSAL_STATUS[refusal]);
    }
  }

  /** Processes what an earlier holder left, and what was stored without an answer of the store. Throws its error. */
  async recover(): Promise<void> {
    const { db, carrier, clock } = this.#options;
    let after: InboundId | undefined;
    do {
      const page = await findUnfinished(db, carrier._id, after, RECOVER_PAGE);
      const found: Arrival[] = [];
      for (const document of page) {
        // Finished and forgotten by `#arrivals`: it is in the store only because it could not be removed yet.
        if (this.#finished.has(document._id)) continue;
        const known = this.#arrivals.byId(document._id);
        if (known?.stored === true) continue;
        const cameMs = clock.monotonicMs();
        const arrival = known ?? { document, cameMs, stored: true, announced: false, sure: false };
        arrival.stored = true;
        if (known === undefined) this.#remember(arrival);
        found.push(arrival);
      }
      await this.#announce(this.#whole(found), true);
      after = page.length < RECOVER_PAGE ? undefined : page.at(-1)?._id;
    } while (after !== undefined);
    await this.#closeAnnounced();
  }

  /** Closes messages that only seem to wait: an earlier holder announced them and removed some of their parts. */
  async #closeAnnounced(): Promise<void> {
    const { inboundAnnouncer, clock } = this.#options;
    const announced = await inboundAnnouncer.stored(this.#sets.waiting.map(({ id }) => id));
    const sets = this.#sets.waiting.filter(({ id }) => announced.has(id));
    const now = clock.now();
    for (const set of sets) this.#sets.close(set, now.getTime());
    await this.#announce(
      sets.map((set) => joinedText(set, this.#alphabet, now)),
      true,
    );
  }

  /** Repeats what failed, gives up on overdue parts, and removes what is finished. Call it about once a second. */
  async repeat(): Promise<void> {
    const { clock } = this.#options;
    if (this.#uncertain) {
      this.#uncertain = false;
      await this.recover().catch((error: unknown) => {
        this.#uncertain = true;
        throw error;
      });
    }
    for (const set of this.#sets.takeOverdue(clock.now().getTime())) this.#giveUp(set);
    const unannounced = this.#unannounced;
    this.#unannounced = [];
    await this.#announce(unannounced, true);
    await this.removeFinished();
  }

  /** Removes what is announced and surely answered. `repeat` does it too. Throws the driver's error. */
  async removeFinished(): Promise<void> {
    const { db, clock } = this.#options;
    for (const { document } of this.#arrivals.takeFinished(clock.monotonicMs())) this.#finished.add(document._id);
    const removed = [...this.#finished];
    await removeInbound(db, removed);
    for (const id of removed) this.#finished.delete(id);
  }

  /**
   * The stored deliver_sm that this one repeats, with its answer's time cleared, because it will be answered again. A
   * part that an open message lacks is that message's, even if an earlier message had an equal one.
   */
  #repeated({ fingerprint, partsKey, concatenation }: Incoming, via: DeliverVia): Arrival | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    const part =
      partsKey !== undefined && concatenation !== undefined ? ([partsKey, concatenation.number] as const) : undefined;
    if (part !== undefined && this.#sets.lacking(...part) !== undefined) return undefined;
    const known = (part && this.#sets.same(...part, fingerprint)) ?? this.#arrivals.repeated(fingerprint, via, nowMs);
    if (known === undefined) return undefined;
    this.#count('repeated');
    return Object.assign(known, { via, cameMs: nowMs, answeredMs: undefined, refused: false });
  }

  #begin(incoming: Incoming, via: DeliverVia): Arrival {
    const { carrier, clock, rules } = this.#options;
    const { partsKey, concatenation } = incoming;
    const set =
      partsKey === undefined || concatenation === undefined
        ? undefined
        : this.#sets.lacking(partsKey, concatenation.number)?.id;
    const stamp = { carrier: carrier._id, at: clock.now(), alphabet: this.#alphabet, partsMs: rules.partsMs, set };
    const cameMs = clock.monotonicMs();
    const arrival: Arrival = {
      document: documentOf(incoming, stamp),
      via,
      cameMs,
      stored: false,
      announced: false,
      sure: false,
    };
    this.#remember(arrival);
    return arrival;
  }

  #remember(arrival: Arrival): void {
    this.#arrivals.add(arrival);
    const { part } = arrival.document;
    if (part !== undefined) this.#sets.place(arrival, part, this.#options.clock.now().getTime());
  }

  /** Stops waiting for missing parts: a later round stores the message without them. */
  #giveUp(set: PartSet): void {
    for (const [number, arrival] of set.parts) {
      if (arrival.stored) continue;
      // A refused part. Its second try comes too late for this message, and begins another one.
      set.parts.delete(number);
      arrival.refused = false;
      arrival.sure = true;
    }
    if (set.parts.size === 0) return;
    this.#count('incomplete', set.parts.size);
    this.#unannounced.push(joinedText(set, this.#alphabet, this.#options.clock.now()));
  }

  async #store(arrivals: readonly Arrival[]): Promise<void> {
    const { db, held, metrics } = this.#options;
    if (!held()) throw new LeaseLostError('the lease of the carrier is not held');
    metrics.settleSize.observe({ stream: 'inbound' }, arrivals.length);
    await keepInbound(
      db,
      arrivals.map(({ document }) => document),
    );
    crashPoint('inbound:stored');
    for (const arrival of arrivals) arrival.stored = true;
    this.#count('part', arrivals.filter(({ document }) => document.part !== undefined).length);
    await this.#announce(this.#whole(arrivals), false);
    crashPoint('inbound:announced');
  }

  #whole(arrivals: readonly Arrival[]): WholeText[] {
    return arrivals.flatMap((arrival) => {
      const { part } = arrival.document;
      if (part === undefined) return [textOf(arrival, this.#alphabet)];
      const set = this.#sets.of(part);
      if (set === undefined || !isComplete(set)) return [];
      this.#sets.close(set, this.#options.clock.now().getTime());
      const last = Math.max(...[...set.parts.values()].map(({ document }) => document.at.getTime()));
      return [joinedText(set, this.#alphabet, new Date(last))];
    });
  }

  /** Never rejects. Texts that could not become messages now are tried again by a later round. */
  async #announce(texts: readonly WholeText[], again: boolean): Promise<void> {
    const { inboundAnnouncer, log, carrier } = this.#options;
    for (let first = 0; first < texts.length; first += MAX_GROUP) {
      const group = texts.slice(first, first + MAX_GROUP);
      try {
        const { received, unassigned } = await inboundAnnouncer.announce(group, again);
        this.#count('received', received);
        this.#count('unassigned', unassigned);
        for (const { arrivals } of group) for (const arrival of arrivals) arrival.announced = true;
      } catch (error) {
        log.warn('inbound_not_announced', { carrier: carrier._id, messages: group.length, ...errorFields(error) });
        this.#unannounced.push(...group);
      }
    }
  }

  #count(result: InboundResult, count = 1): void {
    this.#options.metrics.inbound.inc({ carrier: this.#options.carrier._id, result }, count);
  }
}
