import type { Collection, Db, Filter } from 'mongodb';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { STATES } from '../../../shared/messages/status.ts';
import { type CandidateKey, changesCase } from '../dialect/message-ids.ts';
import { ORPHAN_MS } from './orphan-store.ts';
import { fits, type IncomingReceipt, keysOf, submittedAs } from './receipt-match.ts';

export interface Hit {
  readonly message: MessageDocument;
  readonly key: string;
}

/** Messages that were sent last and are remembered here: most receipts come within seconds and then need no read. */
const MAX_RECENT = 10_000;
/** Unanswered submits that a receipt is compared with; with more of them nothing is certain anyway. */
const MAX_UNANSWERED = 1_000;
/** When there are more, they are not counted again for so long: 1,000 documents are 100 ms of a store, and receipts come all the time. */
const CROWDED_MS = 5_000;
/** All in one answer: the server's own first batch holds 101. */
const BATCH = 1_001;
/** An earlier copy of a message is compared with receipts for so long: as orphans are kept. */
const EARLIER_MS = ORPHAN_MS;

/**
 * Finds the messages of receipts by the ids in them. Learns in which form the carrier writes ids in receipts: after a hit in
 * another form than expected, the next receipts are looked up in that one first, by one key each. Once an id with letters was
 * found as it is written, the carrier is known to keep their case, and another case is another id.
 *
 * A receipt never means a submit that was made after the receipt came: carriers use ids again, and some begin to count from one.
 */
export class ReceiptLookup {
  readonly #messages: Collection<MessageDocument>;
  readonly #carrier: string;
  #learned = '';
  #keepsCase = false;
  /** When there were more unanswered submits than receipts are compared with; 0 when there were not. */
  #crowdedAtMs = 0;
  /** By key, as they were stored last; out of date is harmless, a settle filters on the version. */
  readonly #recent = new Map<string, MessageDocument>();

  constructor(db: Db, carrier: string) {
    this.#messages = db.collection('messages');
    this.#carrier = carrier;
  }

  /** What is stored of a message now. Final ones are forgotten: they have had their receipt. */
  remember(message: MessageDocument): void {
    const final = STATES[message.state].final;
    for (const key of keysOf(message)) {
      const known = this.#recent.get(key);
      // Its id was used again since.
      if (known !== undefined && known._id !== message._id && submittedAs(known, key) > submittedAs(message, key))
        continue;
      this.#recent.delete(key);
      if (!final) this.#recent.set(key, message);
    }
    while (this.#recent.size > MAX_RECENT) {
      const [oldest] = this.#recent.keys();
      if (oldest === undefined) break;
      this.#recent.delete(oldest);
    }
  }

  /** By the learned form, then by every form. Undefined where nothing fits. */
  async find(receipts: readonly IncomingReceipt[]): Promise<(Hit | undefined)[]> {
    const likely = receipts.map((receipt) => this.#likely(receipt));
    const recent = this.recent(receipts);
    const read = await this.#find(
      receipts,
      likely.map((candidate, i) => (recent[i] === undefined ? [candidate] : [])),
    );
    const hits = recent.map((hit, i) => hit ?? read[i]);
    this.#learn(receipts, hits);
    const missing = receipts.flatMap((receipt, i) =>
      hits[i] === undefined && receipt.candidates.length > 1 ? [{ receipt, i }] : [],
    );
    if (missing.length === 0) return hits;
    const others = await this.findAnyForm(missing.map(({ receipt }) => receipt));
    for (const [n, { i }] of missing.entries()) hits[i] = others[n];
    return hits;
  }

  async findAnyForm(receipts: readonly IncomingReceipt[]): Promise<(Hit | undefined)[]> {
    const hits = await this.#find(
      receipts,
      receipts.map((receipt) => this.#candidates(receipt)),
    );
    this.#learn(receipts, hits);
    return hits;
  }

  /**
   * Messages that a receipt may fit by its addresses: those that are being submitted to the carrier or were never answered by it,
   * now or in an earlier copy. None when they are too many, and for a few seconds after that.
   */
  async unanswered(now: Date): Promise<MessageDocument[]> {
    if (Math.abs(now.getTime() - this.#crowdedAtMs) < CROWDED_MS) return [];
    const since = new Date(now.getTime() - EARLIER_MS);
    const filters = [
      { 'claim.carrier': this.#carrier, state: 'submitting' as const },
      { earlier: { $elemMatch: { carrier: this.#carrier, at: { $gte: since } } } },
    ];
    const read = (filter: Filter<MessageDocument>): Promise<MessageDocument[]> =>
      this.#messages
        .find(filter, { batchSize: BATCH })
        .limit(MAX_UNANSWERED + 1)
        .toArray();
    const found = (await Promise.all(filters.map(read))).flat();
    const byId = new Map(found.map((message) => [message._id, message]));
    this.#crowdedAtMs = byId.size > MAX_UNANSWERED ? now.getTime() : 0;
    return this.#crowdedAtMs === 0 ? [...byId.values()] : [];
  }

  /** Among the messages that are remembered, by the learned form; reads nothing. */
  recent(receipts: readonly IncomingReceipt[]): (Hit | undefined)[] {
    return receipts.map((receipt) => {
      const key = this.#likely(receipt)?.key;
      const message = key === undefined ? undefined : this.#recent.get(key);
      if (key === undefined || message === undefined || !fits(message, key, receipt)) return undefined;
      return { message, key };
    });
  }

  /** What was an orphan was perhaps found by its addresses, and teaches nothing any more. */
  #learn(receipts: readonly IncomingReceipt[], hits: readonly (Hit | undefined)[]): void {
    for (const [i, hit] of hits.entries()) {
      const { candidates = [], orphan } = receipts[i] ?? {};
      const found = candidates.find(({ key }) => key === hit?.key);
      if (found === undefined || found.form === '' || orphan !== undefined) continue;
      this.#learned = found.form;
      if (!changesCase(found) && candidates.some(changesCase)) this.#keepsCase ||= found.form.startsWith('same');
    }
  }

  /** The same text twice is one candidate: those of another case are there only where there are letters. */
  #candidates({ candidates }: IncomingReceipt): readonly CandidateKey[] {
    return this.#keepsCase ? candidates.filter((candidate) => !changesCase(candidate)) : candidates;
  }

  #likely(receipt: IncomingReceipt): CandidateKey | undefined {
    const candidates = this.#candidates(receipt);
    return candidates.find(({ form }) => form === this.#learned) ?? candidates[0];
  }

  async #find(
    receipts: readonly IncomingReceipt[],
    keys: readonly (readonly (CandidateKey | undefined)[])[],
  ): Promise<(Hit | undefined)[]> {
    const current = await this.#findBy('parts.key', receipts, keys);
    // Few were sent again.
    const missing = keys.map((candidates, i) => (current[i] === undefined ? candidates : []));
    const earlier = await this.#findBy('earlier.parts.key', receipts, missing);
    return current.map((hit, i) => hit ?? earlier[i]);
  }

  async #findBy(
    field: 'parts.key' | 'earlier.parts.key',
    receipts: readonly IncomingReceipt[],
    keys: readonly (readonly (CandidateKey | undefined)[])[],
  ): Promise<(Hit | undefined)[]> {
    const wanted = keys.flat().flatMap((candidate) => candidate?.key ?? []);
    if (wanted.length === 0) return receipts.map(() => undefined);
    const found = await this.#messages.find({ [field]: { $in: wanted } }, { batchSize: BATCH }).toArray();
    const byKey = new Map<string, MessageDocument[]>();
    for (const message of found) {
      for (const key of keysOf(message)) byKey.set(key, [...(byKey.get(key) ?? []), message]);
    }
    return receipts.map((receipt, i) => {
      for (const candidate of keys[i] ?? []) {
        if (candidate === undefined) continue;
        const { key } = candidate;
        // Of those that used this id: the last that was submitted with it.
        const fitting = (byKey.get(key) ?? []).filter((message) => fits(message, key, receipt));
        const [last] = fitting.sort((a, b) => submittedAs(b, key) - submittedAs(a, key) || (b._id > a._id ? 1 : -1));
        if (last !== undefined) return { message: last, key };
      }
      return undefined;
    });
  }
}
