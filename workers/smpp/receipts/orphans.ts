import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { OrphanDocument } from '../../../shared/messages/settlement/message-log.ts';
import type { OutcomeSettler } from '../../../shared/messages/settlement/settle-outcomes.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import type { Hit, ReceiptLookup } from './receipt-lookup.ts';
import { awaitsAnswer, type IncomingReceipt, isAnswerDue, ORPHAN_MS, onlyUnknown } from './receipt-match.ts';

/** The answers that came and are not stored yet. */
export type AnswersInFlight = Pick<OutcomeSettler, 'join' | 'settled'>;

interface OrphansOptions extends Pick<CarrierContext, 'db' | 'clock'> {
  readonly carrier: string;
  readonly lookup: ReceiptLookup;
  readonly answers: AnswersInFlight;
}

/** For this long a new orphan is tried again every few seconds. After that, only an answer with its id can find it. */
const FRESH_MS = 5 * 60_000;
const MAX_FRESH = 5_000;

/** A receipt may come right after its answer. It waits at most this long until the answer is stored. */
const ANSWERS_STORED_MS = 250;

/** The receipts of a group for which the first look found no message, by their place in the group. */
interface Looked {
  /** Plain texts that can mean no message of ours. */
  readonly foreign: readonly number[];
  readonly kept: ReadonlyMap<number, string>;
}

const NONE: Looked = { foreign: [], kept: new Map() };

/**
 * A carrier's receipts for which the first look by ids finds no message. Looks again, by ids and by addresses. A
 * receipt that still fits none is stored, and tried again: while it is fresh, and when an answer brings its id.
 */
export class Orphans {
  readonly #options: OrphansOptions;
  readonly #store: OrphanStore;
  /** By their ids, in the order in which they came. */
  readonly #fresh = new Map<string, FreshOrphan>();
  /** False while the store has no orphan that an answer could still settle. Then it is not asked for any. */
  #maySettle = true;

  constructor(options: OrphansOptions) {
    this.#options = options;
    this.#store = new OrphanStore(options.db, options.carrier);
  }

  get fresh(): number {
    return this.#fresh.size;
  }

  async withKeys(keys: readonly string[]): Promise<readonly IncomingReceipt[]> {
    return this.#maySettle && keys.length > 0 ? this.#store.withKeys(keys) : [];
  }

  /** Reads the orphans that an earlier holder may have left. */
  async recover(): Promise<void> {
    const since = new Date(this.#options.clock.now().getTime() - FRESH_MS);
    const orphans = await this.#store.since(since, MAX_FRESH);
    for (const receipt of orphans) this.#addFresh(receipt.orphan, receipt);
    // For older orphans no answer comes any more: it was lost with its connection.
    this.#maySettle = orphans.length > 0;
  }

  due(): IncomingReceipt[] {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [id, { atMs }] of this.#fresh) {
      if (nowMs - atMs < FRESH_MS) break;
      this.#fresh.delete(id);
    }
    const due = [...this.#fresh.values()].filter(({ nextMs }) => nextMs <= nowMs);
    // Tries after 3, 6, 12 … seconds: thousands of orphans that never fit do not keep the worker busy.
    for (const orphan of due) orphan.nextMs = nowMs + (nowMs - orphan.atMs);
    return due.map(({ receipt }) => receipt);
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#fresh.delete(id);
    await this.#store.remove(ids);
  }

  /** Looks again for messages that are missing in `found`, and adds them there. Stores receipts that fit none. */
  async findOrKeep(receipts: readonly IncomingReceipt[], found: (Hit | undefined)[]): Promise<Looked> {
    if (found.every((hit) => hit !== undefined)) return NONE;
    const foreign = await this.#lookAgain(receipts, found);
    return { foreign, kept: await this.#keep(receipts, found, foreign) };
  }

  /**
   * The order matters: first the messages that are being submitted are read, then the ids are looked up again. An
   * answer that was stored in between is found by its id. If it is not stored yet, its message is in the list, and the
   * receipt is ambiguous. So a receipt never settles another unanswered message to the same number, nor one whose id
   * differs only in case. Returns the foreign ones.
   */
  async #lookAgain(receipts: readonly IncomingReceipt[], found: (Hit | undefined)[]): Promise<readonly number[]> {
    const { clock, carrier, lookup } = this.#options;
    await this.#options.answers.settled(ANSWERS_STORED_MS);
    for (const [i, receipt] of receipts.entries()) found[i] ??= lookup.recent(receipt);
    const missing = receipts.flatMap((receipt, i) => (found[i] === undefined ? [{ receipt, i }] : []));
    if (missing.length === 0) return [];
    const unanswered = await lookup.unanswered(clock.now());
    const hits = await lookup.findAnyForm(
      missing.map(({ receipt }) => receipt),
      (receipt) => !isAnswerDue(unanswered ?? [], receipt, carrier),
    );
    for (const [n, { receipt, i }] of missing.entries()) {
      const hit = hits[n];
      const byAddress = hit === undefined && receipt.plain !== true;
      const unknown = byAddress ? onlyUnknown(unanswered ?? [], receipt, carrier) : undefined;
      const [candidate] = receipt.candidates;
      found[i] =
        unknown === undefined || candidate === undefined
          ? hit
          : { message: unknown, key: candidate.key, byAddress: true };
    }
    return missing.flatMap(({ receipt, i }) => {
      const isKept = found[i] !== undefined || receipt.plain !== true || receipt.orphan !== undefined;
      return isKept || unanswered === undefined || awaitsAnswer(unanswered, receipt) ? [] : [i];
    });
  }

  /** Stores the receipts that fit no message, then looks once more, because their answer may have come meanwhile. */
  async #keep(
    receipts: readonly IncomingReceipt[],
    found: (Hit | undefined)[],
    foreign: readonly number[],
  ): Promise<ReadonlyMap<number, string>> {
    const kept = new Map<number, string>();
    const lost = receipts.flatMap((receipt, i) =>
      found[i] === undefined && receipt.orphan === undefined && !foreign.includes(i) ? [{ receipt, i }] : [],
    );
    if (lost.length === 0) return kept;
    this.#maySettle = true;
    const arrivedAt = this.#options.clock.now();
    const ids = await this.#store.keep(
      lost.map(({ receipt }) => receipt),
      arrivedAt,
    );
    const hits = await this.#options.lookup.findAnyForm(
      lost.map(({ receipt }) => receipt),
      () => false,
    );
    for (const [n, { receipt, i }] of lost.entries()) {
      const id = ids[n];
      if (id === undefined) continue;
      kept.set(i, id);
      found[i] = hits[n];
      if (found[i] === undefined) this.#addFresh(id, { ...receipt, orphan: id, arrivedAt });
    }
    return kept;
  }

  #addFresh(id: string | undefined, receipt: IncomingReceipt): void {
    if (id === undefined || this.#fresh.size >= MAX_FRESH) return;
    const atMs = this.#options.clock.monotonicMs();
    this.#fresh.set(id, { receipt, atMs, nextMs: atMs });
  }
}

interface FreshOrphan {
  readonly receipt: IncomingReceipt;
  readonly atMs: number;
  nextMs: number;
}

export class OrphanStore {
  readonly #db: Db;
  readonly #orphans: Collection<OrphanDocument>;
  readonly #carrier: string;

  constructor(db: Db, carrier: string) {
    this.#db = db;
    this.#orphans = db.collection('orphans');
    this.#carrier = carrier;
  }

  /** Does not store one twice. Returns their ids in order. */
  async keep(receipts: readonly IncomingReceipt[], now: Date): Promise<string[]> {
    const documents = receipts.map((receipt) => this.#document(receipt, now));
    await insertNew(this.#db, 'orphans', documents);
    return documents.map((document) => document._id);
  }

  /** The orphans that may mean one of these keys. Orphans whose ids have letters have a lower-case key too. */
  async withKeys(keys: readonly string[]): Promise<IncomingReceipt[]> {
    const wanted = [...new Set(keys.flatMap((key) => [key, key.toLowerCase()]))];
    const found = await this.#orphans.find({ carrier: this.#carrier, keys: { $in: wanted } }).toArray();
    return found.map(incoming);
  }

  async since(since: Date, limit: number): Promise<IncomingReceipt[]> {
    const found = await this.#orphans
      .find({ carrier: this.#carrier, at: { $gte: since } })
      .limit(limit)
      .toArray();
    return found.map(incoming);
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#orphans.deleteMany({ _id: { $in: [...ids] } });
  }

  #document(receipt: IncomingReceipt, now: Date): OrphanDocument {
    const { candidates, from, to, part, excerpt, tlvs, plain } = receipt;
    const keys = candidates.map(({ key }) => key);
    const said = JSON.stringify([keys, from, to, part.state, part.error ?? '', part.doneAt?.getTime() ?? 0]);
    return {
      _id: `${this.#carrier}:${createHash('sha256').update(said).digest('base64url').slice(0, 22)}`,
      carrier: this.#carrier,
      keys,
      forms: candidates.map(({ form }) => form),
      from,
      to,
      part,
      excerpt,
      ...(tlvs === undefined ? {} : { tlvs }),
      ...(plain === undefined ? {} : { plain }),
      at: now,
      expiresAt: new Date(now.getTime() + ORPHAN_MS),
    };
  }
}

function incoming(orphan: OrphanDocument): IncomingReceipt {
  const { _id, keys, forms, from, to, part, excerpt, tlvs, plain, at } = orphan;
  return {
    candidates: keys.map((key, i) => ({ key, form: forms?.[i] ?? '' })),
    from,
    to,
    part,
    excerpt,
    orphan: _id,
    arrivedAt: at,
    ...(tlvs === undefined ? {} : { tlvs }),
    ...(plain === undefined ? {} : { plain }),
  };
}
