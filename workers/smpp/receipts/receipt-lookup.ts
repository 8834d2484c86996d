import type { Collection, Db, Filter } from 'mongodb';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { STATES } from '../../../shared/messages/document/status.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { type CandidateKey, caselessKeys, changesCase } from '../dialect/message-ids.ts';
import { fits, type IncomingReceipt, keysOf, ORPHAN_MS, submittedAs } from './receipt-match.ts';

export interface Hit {
  readonly message: MessageDocument;
  readonly key: string;
  /** The message was found by the receipt's addresses and not by an id. */
  readonly byAddress?: true;
  /** The message's id has letters in another case than the receipt's. */
  readonly otherCase?: true;
}

/** Recently sent messages that are remembered. Most receipts come within seconds, and then nothing must be read. */
const MAX_RECENT = 10_000;
/** The most unanswered submits that a receipt is compared with. Among more of them, a match would prove nothing. */
const MAX_UNANSWERED = 1_000;
/** Among more, nothing is read again for this long: 1,000 documents take a store 100 ms, and receipts never cease. */
const CROWDED_MS = 5_000;
/** Makes the server return all documents in one batch. By default its first batch has 101. */
const BATCH = 1_001;

/**
 * Finds the messages of receipts by their ids. It learns in which form the carrier writes ids: after a hit in another
 * form than expected, the next receipts are first looked up in that form, by one key each.
 *
 * An id in another case means a message only if no message has the very id, and exactly one id differs from it in case
 * only. Until the carrier is known to change the case of its ids, this also requires that no answer with the very id is
 * still to come (orphans.ts).
 *
 * A receipt never means a submit that was made after it came. Carriers use ids again, and some start again at one.
 */
export class ReceiptLookup {
  readonly #messages: Collection<MessageDocument>;
  readonly #carrier: string;
  #learned = '';
  /** Whether the last id with letters was found in another case. */
  #changesCase = false;
  /** When the last read found too many unanswered submits. 0 if it did not. */
  #crowdedAtMs = 0;
  /** Recent messages by key, as last stored. An outdated one does no harm: a settle checks the version. */
  readonly #recent = new Map<string, MessageDocument>();

  readonly #unborn: () => readonly MessageDocument[];

  /** `unborn`: claimed messages that are not in `messages` yet. */
  constructor(db: Db, carrier: string, unborn: () => readonly MessageDocument[] = () => []) {
    this.#messages = db.collection('messages');
    this.#carrier = carrier;
    this.#unborn = unborn;
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
    if (this.#changesCase) return this.findAnyForm(receipts, () => true);
    const likely = receipts.map((receipt) => this.#likely(receipt));
    const recent = receipts.map((receipt) => this.recent(receipt));
    const read = await this.#find(
      receipts,
      likely.map((candidate, i) => (recent[i] === undefined && candidate !== undefined ? [candidate] : [])),
    );
    const hits = recent.map((hit, i) => hit ?? read[i]);
    this.#learn(receipts, hits);
    const missing = receipts.flatMap((receipt, i) =>
      hits[i] === undefined && receipt.candidates.length > 1 ? [{ receipt, i }] : [],
    );
    if (missing.length === 0) return hits;
    const others = await this.findAnyForm(
      missing.map(({ receipt }) => receipt),
      () => false,
    );
    for (const [n, { i }] of missing.entries()) hits[i] = others[n];
    return hits;
  }

  /** Looks up in every form; without case if `isSure` that no answer with the receipt's very id is still to come. */
  async findAnyForm(
    receipts: readonly IncomingReceipt[],
    isSure: (receipt: IncomingReceipt) => boolean,
  ): Promise<(Hit | undefined)[]> {
    const found = await this.#find(
      receipts,
      receipts.map((receipt) =>
        isSure(receipt) ? receipt.candidates : receipt.candidates.filter((candidate) => !changesCase(candidate)),
      ),
    );
    this.#learn(receipts, found);
    return found;
  }

  /**
   * Messages that a receipt may fit by its addresses: the carrier has not answered them or an earlier copy of them.
   * Undefined if there are too many, and for a few seconds after that.
   */
  async unanswered(now: Date): Promise<MessageDocument[] | undefined> {
    if (Math.abs(now.getTime() - this.#crowdedAtMs) < CROWDED_MS) return undefined;
    const since = new Date(now.getTime() - ORPHAN_MS);
    const filters = [
      { 'claim.carrier': this.#carrier, state: 'submitting' as const },
      { earlier: { $elemMatch: { carrier: this.#carrier, at: { $gte: since } } } },
    ];
    const read = (filter: Filter<MessageDocument>): Promise<MessageDocument[]> =>
      this.#messages
        .find(filter, { batchSize: BATCH })
        .limit(MAX_UNANSWERED + 1)
        .toArray();
    // Messages in memory first: what is inserted meanwhile is in one of the two.
    const unborn = this.#unborn();
    const found = [...unborn, ...(await Promise.all(filters.map(read))).flat()];
    const byId = new Map(found.map((message) => [message._id, message]));
    this.#crowdedAtMs = byId.size > MAX_UNANSWERED ? now.getTime() : 0;
    return this.#crowdedAtMs === 0 ? [...byId.values()] : undefined;
  }

  likelyKey(receipt: IncomingReceipt): string {
    return this.#likely(receipt)?.key ?? '';
  }

  /** Looks among the remembered messages only, in the learned form. Reads nothing from the store. */
  recent(receipt: IncomingReceipt): Hit | undefined {
    const key = this.likelyKey(receipt);
    const message = this.#recent.get(key);
    return message !== undefined && fits(message, key, receipt) ? { message, key } : undefined;
  }

  /** An orphan may have been found by its addresses, so nothing is learned from it. */
  #learn(receipts: readonly IncomingReceipt[], hits: readonly (Hit | undefined)[]): void {
    for (const [i, hit] of hits.entries()) {
      const receipt = receipts[i];
      if (hit === undefined || receipt === undefined || receipt.orphan !== undefined) continue;
      // The message was found as expected, by the receipt's first key.
      if (!this.#changesCase && hit.otherCase !== true && hit.key === this.#first(receipt)?.key) continue;
      const { candidates } = receipt;
      // Ids without letters are the same in every case.
      if (candidates.some(changesCase)) this.#changesCase = hit.otherCase === true;
      const form = candidates.find(({ key }) => key === hit.key)?.form ?? '';
      if (form !== '' && hit.otherCase !== true) this.#learned = form;
    }
  }

  #likely(receipt: IncomingReceipt): CandidateKey | undefined {
    const first = this.#first(receipt);
    return first ?? receipt.candidates.find(({ form }) => form === this.#learned) ?? receipt.candidates[0];
  }

  /** The first key of a receipt whose other keys are not made yet, if ids are read in its form. */
  #first({ first }: IncomingReceipt): CandidateKey | undefined {
    return this.#learned === '' || this.#learned === first?.form ? first : undefined;
  }

  /** One read, and further reads for receipts whose message it does not find. */
  async #find(
    receipts: readonly IncomingReceipt[],
    candidates: readonly (readonly CandidateKey[])[],
  ): Promise<(Hit | undefined)[]> {
    const hits: (Hit | undefined)[] = receipts.map(() => undefined);
    const found = new Map<MessageId, MessageDocument>();
    const missing = (): readonly number[] => [...hits.keys()].filter((i) => hits[i] === undefined);
    const read = async (field: KeyField, keysOfOne: (candidates: readonly CandidateKey[]) => readonly string[]) => {
      const wanted = missing().flatMap((i) => keysOfOne(candidates[i] ?? []));
      if (wanted.length === 0) return;
      const messages = this.#messages.find({ [field]: { $in: wanted } }, { batchSize: BATCH });
      for (const message of await messages.toArray()) found.set(message._id, message);
    };
    const fill = (choose: Choose): void => {
      for (const i of missing()) {
        const receipt = receipts[i];
        if (receipt !== undefined) hits[i] = choose(candidates[i] ?? [], receipt);
      }
    };
    // Only few messages have earlier copies, or one that its carrier gave up.
    for (const field of ['parts.key', 'earlier.parts.key', 'givenUp.parts.key'] as const) {
      await read(field, (ofOne) => ofOne.map(({ key }) => key));
      fill(inItsCase(namedBy(found.values(), (key) => key)));
      if (missing().length === 0) return hits;
    }
    await read('parts.caseless', caselessKeys);
    fill(inOtherCase(namedBy(found.values(), (key) => key.toLowerCase())));
    return hits;
  }
}

type KeyField = 'parts.key' | 'earlier.parts.key' | 'givenUp.parts.key' | 'parts.caseless';
type Choose = (candidates: readonly CandidateKey[], receipt: IncomingReceipt) => Hit | undefined;
type Named = ReadonlyMap<string, readonly Hit[]>;

function namedBy(messages: Iterable<MessageDocument>, nameOf: (key: string) => string): Named {
  const named = new Map<string, Hit[]>();
  for (const message of messages) {
    for (const key of keysOf(message)) {
      const name = nameOf(key);
      named.set(name, [...(named.get(name) ?? []), { message, key }]);
    }
  }
  return named;
}

function inItsCase(byKey: Named): Choose {
  return (candidates, receipt) => {
    for (const candidate of candidates) {
      const hit = changesCase(candidate) ? undefined : last(byKey.get(candidate.key) ?? [], receipt);
      if (hit !== undefined) return hit;
    }
    return undefined;
  };
}

function inOtherCase(byCaseless: Named): Choose {
  return (candidates, receipt) => {
    const fitting = caselessKeys(candidates)
      .flatMap((key) => byCaseless.get(key) ?? [])
      .filter(({ message, key }) => fits(message, key, receipt));
    const isOne = new Set(fitting.map(({ key }) => key)).size === 1;
    const hit = isOne ? last(fitting, receipt) : undefined;
    return hit && { ...hit, otherCase: true };
  };
}

/** Several messages may have used an id. The one that was submitted last is meant. */
function last(hits: readonly Hit[], receipt: IncomingReceipt): Hit | undefined {
  const submitted = ({ message, key }: Hit): number => submittedAs(message, key);
  return hits
    .filter(({ message, key }) => fits(message, key, receipt))
    .sort((a, b) => submitted(b) - submitted(a) || (b.message._id > a.message._id ? 1 : -1))[0];
}
