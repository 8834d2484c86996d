import type { Collection, Db, Filter } from 'mongodb';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { STATES } from '../../../shared/messages/status.ts';
import { type CandidateKey, changesCase } from '../dialect/message-ids.ts';
import { ORPHAN_MS } from './orphan-store.ts';
import { fits, type IncomingReceipt, keysOf, submittedAs } from './receipt-match.ts';

export interface Hit {
  readonly message: MessageDocument;
  readonly key: string;
  /** The message was found by the receipt's addresses and not by an id. */
  readonly byAddress?: true;
}

/** How many recently sent messages are remembered. Most receipts come within seconds, and then nothing must be read. */
const MAX_RECENT = 10_000;
/** The most unanswered submits that a receipt is compared with. Among more of them, a match would prove nothing. */
const MAX_UNANSWERED = 1_000;
/**
 * If there are more, they are not read again for this long. Reading 1,000 documents takes a store 100 ms, and receipts come all
 * the time.
 */
const CROWDED_MS = 5_000;
/** Makes the server return all documents in one batch. By default its first batch has 101. */
const BATCH = 1_001;
/** For how long an earlier copy of a message is compared with receipts: as long as orphans are kept. */
const EARLIER_MS = ORPHAN_MS;

/**
 * Finds the messages of receipts by the ids in the receipts. It learns in which form the carrier writes ids: after a hit in
 * another form than expected, the next receipts are first looked up in that form, by one key each. Once an id with letters was
 * found in its own case, the carrier is known to keep the case. Then the same letters in another case are another id.
 *
 * A receipt never means a submit that was made after the receipt came. Carriers use ids again, and some start again at one.
 */
export class ReceiptLookup {
  readonly #messages: Collection<MessageDocument>;
  readonly #carrier: string;
  #learned = '';
  #keepsCase = false;
  /** When the last read found too many unanswered submits. 0 if it did not. */
  #crowdedAtMs = 0;
  /** Recent messages by key, as they were last stored. An outdated one does no harm, because a settle checks the version. */
  readonly #recent = new Map<string, MessageDocument>();

  constructor(db: Db, carrier: string) {
    this.#messages = db.collection('messages');
    this.#carrier = carrier;
  }

  /** Remembers a message as it is stored now. Final messages are forgotten, because they have had their receipt. */
  remember(message: MessageDocument): void {
    const final = STATES[message.state].final;
    for (const key of keysOf(message)) {
      const known = this.#recent.get(key);
      // A later message has the same id.
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

  /** Looks up in the learned form, then in every other form. Undefined for receipts that fit no message. */
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
   * The messages that a receipt may fit by its addresses: the carrier has not answered them or one of their earlier copies.
   * Undefined if there are too many to tell, and for a few seconds after that.
   */
  async unanswered(now: Date): Promise<MessageDocument[] | undefined> {
    if (Math.abs(now.getTime() - this.#crowdedAtMs) < CROWDED_MS) return undefined;
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
    return this.#crowdedAtMs === 0 ? [...byId.values()] : undefined;
  }

  /** Looks among the remembered messages only, in the learned form. Reads nothing from the store. */
  recent(receipts: readonly IncomingReceipt[]): (Hit | undefined)[] {
    return receipts.map((receipt) => {
      const key = this.#likely(receipt)?.key;
      const message = key === undefined ? undefined : this.#recent.get(key);
      if (key === undefined || message === undefined || !fits(message, key, receipt)) return undefined;
      return { message, key };
    });
  }

  /** An orphan may have been found by its addresses, so nothing is learned from it. */
  #learn(receipts: readonly IncomingReceipt[], hits: readonly (Hit | undefined)[]): void {
    for (const [i, hit] of hits.entries()) {
      const { candidates = [], orphan } = receipts[i] ?? {};
      const found = candidates.find(({ key }) => key === hit?.key);
      if (found === undefined || found.form === '' || orphan !== undefined) continue;
      this.#learned = found.form;
      if (!changesCase(found) && candidates.some(changesCase)) this.#keepsCase ||= found.form.startsWith('same');
    }
  }

  /** If the carrier keeps the case of ids, other cases are left out. */
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
    // Only few messages have earlier copies.
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
        // Several messages may have used this id. The one that was submitted last is meant.
        const fitting = (byKey.get(key) ?? []).filter((message) => fits(message, key, receipt));
        const [last] = fitting.sort((a, b) => submittedAs(b, key) - submittedAs(a, key) || (b._id > a._id ? 1 : -1));
        if (last !== undefined) return { message: last, key };
      }
      return undefined;
    });
  }
}
