import type { Claim, MessageDocument } from '../../../shared/messages/document/message.ts';
import type { ClaimGates } from '../../../shared/messages/queue/claim-gates.ts';
import { isMixed } from '../../../shared/messages/queue/queue-document.ts';
import {
  claimedMessage,
  claimLines,
  closeClaims,
  insertMissing,
  removeQueued,
  takeQueued,
} from '../../../shared/messages/queue/queue-store.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { type ClaimId, type MessageId, newId, type QueueId } from '../../../shared/platform/runtime/ids.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import { type ClaimFrom, type Picked, type Room, Waiting } from './waiting.ts';

export type { Room } from './waiting.ts';

export interface ClaimerOptions extends Pick<CarrierContext, 'db' | 'clock' | 'held'> {
  readonly carrier: string;
  readonly epoch: number;
  readonly gates: ClaimGates;
}

interface Claimed {
  /** Our claims of it that are not closed. */
  claims: ClaimId[];
  /** Claimed messages that are not in `messages` yet. */
  open: number;
  /** No line is left in it. */
  ended: boolean;
  /** Must not simply be removed at its end: another carrier or an earlier holder claimed from it, or it is kept. */
  shared: boolean;
  /** When all that was claimed was in `messages`. */
  idleMs: number;
}

/** Claims of a document that still has lines are closed after this time without a new one. */
const IDLE_MS = 3_000;
/** Ended documents are removed together, at the next claim or after this time. */
const REMOVE_MS = 50;

/**
 * Takes waiting messages for a carrier: `waiting.ts` says which are next, shared/messages/queue what a claim is. They
 * become `submitting`, with the carrier, the lease's epoch and the claim's id. If two carriers want the same lines, one
 * gets them.
 *
 * A message that was never sent is only in the queue; it is `unborn` until the settle of its outcome inserts it. A
 * message that a carrier returned, or that waited long, is in `messages`: its claim is one more update there, because
 * its batch may have been stopped meanwhile, or its validity may have ended.
 *
 * Commands for 1,000 messages of a bulk send, at 100 a claim: 10 reads, 10 updates and some 5 removals.
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #waiting: Waiting;
  readonly #unborn = new Map<MessageId, Leaving>();
  readonly #claimed = new Map<QueueId, Claimed>();
  /** A claim that may have been made: its answer was lost, or the store failed before its messages were read. */
  #uncertain: Taking | undefined;
  #tookAll = false;
  #ended: QueueId[] = [];
  #removing: NodeJS.Timeout | undefined;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#waiting = new Waiting(options);
  }

  /** Whether the last claim saw everything that waited and got it. Then only a new entry of the queue brings more. */
  get tookAll(): boolean {
    return this.#tookAll;
  }

  /** Whether a claimed message is not in `messages` yet: its first settle inserts it. */
  isUnborn(id: MessageId): boolean {
    return this.#unborn.has(id);
  }

  /** Whether it was claimed with a mixed document, in which no gate holds it (waiting.ts). */
  isOfMixed(id: MessageId): boolean {
    return this.#unborn.get(id)?.mixed === true;
  }

  get unborn(): readonly MessageDocument[] {
    return [...this.#unborn.values()].map(({ message }) => message);
  }

  /** Claims messages within `room`. Returns those that are ours now, as they are after the claim. */
  async claim(room: Room, from: ClaimFrom): Promise<MessageDocument[]> {
    this.#tookAll = false;
    if (room.messages <= 0 || room.segments <= 0) return [];
    const { gates, held, carrier, epoch, clock } = this.#options;
    if (this.#uncertain !== undefined) return held() ? this.#take(this.#uncertain, true) : [];
    this.#tookAll = from.paths.length === 0;
    if (this.#tookAll) return [];
    await gates.refresh();
    const picked = await this.#waiting.next(room, from);
    // The process may have stood still while it read, and another holder may serve the carrier by now.
    if (!held()) return [];
    this.#tookAll = this.#waiting.empty;
    if (picked.length === 0) return [];
    return this.#take({ claim: { id: newId('clm'), carrier, epoch, at: clock.now() }, picked });
  }

  /** Called when outcomes are stored: the messages are in `messages`. */
  stored(ids: readonly MessageId[]): void {
    for (const id of ids) {
      const unborn = this.#unborn.get(id);
      if (unborn === undefined) continue;
      this.#unborn.delete(id);
      this.#close(unborn.document, 1);
    }
  }

  /** Throws the driver's error; the next call tries again. */
  async removeEnded(): Promise<void> {
    clearTimeout(this.#removing);
    this.#removing = undefined;
    const { db, clock } = this.#options;
    const idleMs = clock.monotonicMs() - IDLE_MS;
    for (const [id, { open, ended, idleMs: since }] of this.#claimed) {
      if (!ended && open === 0 && since <= idleMs) this.#ended.push(id);
    }
    const ids = this.#ended;
    if (ids.length === 0) return;
    this.#ended = [];
    const ours = ids.filter((id) => !this.#claimed.get(id)?.shared && this.#claimed.get(id)?.ended);
    const others = ids.filter((id) => !ours.includes(id));
    const claims = others.flatMap((id) => this.#claimed.get(id)?.claims ?? []);
    try {
      await Promise.all([removeQueued(db, ours), closeClaims(db, others, { id: { $in: claims } }, clock.now())]);
    } catch (error) {
      this.#ended.push(...ids);
      throw error;
    }
    for (const id of ids) {
      const known = this.#claimed.get(id);
      if (known === undefined) continue;
      known.claims = known.claims.filter((claim) => !claims.includes(claim));
      // Another claim of it may have been made meanwhile.
      if (known.ended ? known.open === 0 : known.claims.length === 0) this.#claimed.delete(id);
    }
  }

  async #take(taking: Taking, again = false): Promise<MessageDocument[]> {
    const { db } = this.#options;
    const { claim, picked } = taking;
    this.#uncertain = taking;
    const ours = await claimLines(
      db,
      claim,
      picked.map(({ head, to }) => ({ head: head.document, to })),
      again,
    );
    if (ours.size > 0) crashPoint('claim:taken');
    // Another carrier serves the same path, or the lines were written out: other heads are probably out of date too.
    if (ours.size < picked.length) this.#waiting.forget();
    this.#tookAll &&= ours.size === picked.length;
    const got = picked.filter(({ head }) => ours.has(head.document._id));
    const written = await this.#takeWritten(
      claim,
      got.filter(({ head }) => head.document.written === true),
      again,
    );
    const leaving = await this.#leaving(got.filter(({ head }) => head.document.written !== true));
    const fresh = leaving.map((line) => ({ ...line, message: claimedMessage(line.message, claim) }));
    this.#uncertain = undefined;
    this.#note(claim, got, fresh);
    return [...fresh.map(({ message }) => message), ...written];
  }

  /** Takes the messages in `messages` that are still `queued` on the path of their lines. */
  async #takeWritten(claim: Claim, picked: readonly Picked[], sure: boolean): Promise<readonly MessageDocument[]> {
    const { db, clock } = this.#options;
    const byPath = new Map<string, MessageDocument[]>();
    for (const { head, to } of picked) {
      const { path, next } = head.document;
      const lines = head.lines.slice(next, to);
      const others = byPath.get(path);
      if (others === undefined) byPath.set(path, lines);
      else others.push(...lines);
    }
    const taken: MessageDocument[] = [];
    for (const [path, lines] of byPath) {
      await insertMissing(db, lines);
      const filter = { path, validUntil: { $gt: clock.now() } };
      const ids = lines.map(({ _id }) => _id);
      taken.push(...(await takeQueued<MessageDocument>(db, ids, claim, { filter, sure })));
    }
    return taken;
  }

  /** Expired lines are left to the maintenance, which finds them in `messages`. */
  async #leaving(picked: readonly Picked[]): Promise<readonly Leaving[]> {
    const now = this.#options.clock.now();
    const lines = picked.flatMap(({ head: { document, lines }, to }) =>
      lines.slice(document.next, to).map((message) => ({ message, document: document._id, mixed: isMixed(document) })),
    );
    const over = lines.filter(({ message }) => message.validUntil <= now);
    if (over.length === 0) return lines;
    await insertNew(
      this.#options.db,
      'messages',
      over.map(({ message }) => message),
    );
    return lines.filter((line) => !over.includes(line));
  }

  #note({ id, carrier, epoch }: Claim, picked: readonly Picked[], fresh: readonly Leaving[]): void {
    for (const { head, to } of picked) {
      const { _id, n, keep, claims } = head.document;
      const known = this.#claimed.get(_id) ?? { claims: [], open: 0, ended: false, shared: false, idleMs: 0 };
      known.claims.push(id);
      known.ended = to === n;
      known.shared ||= keep === true || claims.some((claim) => claim.carrier !== carrier || claim.epoch !== epoch);
      this.#claimed.set(_id, known);
      head.document = { ...head.document, next: to };
    }
    for (const unborn of fresh) {
      this.#unborn.set(unborn.message._id, unborn);
      const known = this.#claimed.get(unborn.document);
      if (known !== undefined) known.open += 1;
    }
    for (const { head } of picked) this.#close(head.document._id, 0);
  }

  /** `stored` more of its messages are in `messages`. */
  #close(id: QueueId, stored: number): void {
    const known = this.#claimed.get(id);
    if (known === undefined) return;
    known.open -= stored;
    if (known.open > 0) return;
    known.idleMs = this.#options.clock.monotonicMs();
    if (!known.ended) return;
    this.#ended.push(id);
    this.#removing ??= setTimeout(() => void this.removeEnded().catch(() => undefined), REMOVE_MS); // The next one tries again.
  }
}

interface Taking {
  readonly claim: Claim;
  readonly picked: readonly Picked[];
}

interface Leaving {
  readonly message: MessageDocument;
  readonly document: QueueId;
  readonly mixed: boolean;
}
