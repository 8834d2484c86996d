import type { Collection, Db, Filter } from 'mongodb';
import { isOpen, isUnanswered } from '../../../shared/messages/copies.ts';
import type { Claim, MessageDocument, Part } from '../../../shared/messages/message.ts';
import { STATES } from '../../../shared/messages/status.ts';
import type { PartReceipt, ReceiptTlvs } from '../../../shared/settlement/receipt-outcome.ts';
import { type CandidateKey, changesCase } from './message-key.ts';
import { ORPHAN_MS } from './orphan.ts';

/** A final receipt as a carrier sent it, with every key it may mean. */
export interface IncomingReceipt {
  /** The likelier first; at least one. */
  readonly candidates: readonly CandidateKey[];
  /** Usually the handset. */
  readonly from: string;
  /** Usually our sender. */
  readonly to: string;
  readonly part: PartReceipt;
  /** Its text up to the customer's words. */
  readonly excerpt: string;
  readonly tlvs?: ReceiptTlvs;
  /** Set when it was stored as an orphan earlier, and when that was. */
  readonly orphan?: string;
  readonly arrivedAt?: Date;
}

export interface Hit {
  readonly message: MessageDocument;
  readonly key: string;
}

/** Messages sent of late that are remembered here: most receipts come within seconds and then need no read. */
const MAX_RECENT = 10_000;
/** Unanswered submits that a receipt is compared with; with more of them nothing is certain anyway. */
const MAX_UNANSWERED = 1_000;
/** When there are more, they are not counted again for so long: 1,000 documents are 100 ms of a store, and receipts come all the time. */
const CROWDED_MS = 5_000;
/** All in one answer: the server's own first batch holds 101. */
const BATCH = 1_001;
/** An earlier copy of a message is compared with receipts for so long: as orphans are kept. */
const EARLIER_MS = ORPHAN_MS;
/** Clocks of two machines may differ by so much: one claims, the other takes the receipt. */
const CLOCKS_MS = 5_000;

/**
 * Finds the messages of receipts by the ids in them. Learns in which form the carrier writes ids in receipts: after a hit in
 * another form than expected, the next receipts are looked up in that one first, by one key each. Once an id with letters was
 * found as it is written, the carrier is known to keep their case, and another case is another id.
 *
 * A receipt is never of a submit that came after it: carriers use ids again, and some begin anew.
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
   * Messages that a receipt may fit by its addresses: of the carrier, and being submitted or unanswered; and those of which an
   * earlier copy went there. None when they are too many, and for a few seconds after that.
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

  /** Among the messages sent of late, by the learned form; asks nobody. */
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

/** Every id of its segments, of all copies. */
export function keysOf({ parts = [], earlier = [] }: MessageDocument): ReadonlySet<string> {
  return new Set([...earlier.flatMap((copy) => copy.parts), ...parts].flatMap(({ key }) => key ?? []));
}

/** When the last copy with this id was claimed; 0 when nobody knows. */
function submittedAs({ claim, parts = [], earlier = [] }: MessageDocument, key: string): number {
  const has = (copy: readonly Part[]): boolean => copy.some((part) => part.key === key);
  const copy = has(parts) ? claim : earlier.findLast((one) => has(one.parts));
  return copy?.at.getTime() ?? 0;
}

/**
 * The one message among `unanswered` that a receipt can mean by its addresses, if it, or an earlier copy of it, was never answered.
 * Undefined too when one that fits is just being submitted: its answer may bring the id.
 */
export function onlyUnknown(
  unanswered: readonly MessageDocument[],
  receipt: IncomingReceipt,
  carrier: string,
): MessageDocument | undefined {
  const fitting = unanswered.filter(
    (message) =>
      isNumberOf(receipt.from, message.to) &&
      isSenderOf(receipt.to, message.sender) &&
      (isUnderWay(message, receipt, carrier) || mayBeMeant(message, receipt, carrier)),
  );
  const [only] = fitting;
  if (only === undefined || fitting.length > 1 || isUnderWay(only, receipt, carrier)) return undefined;
  return only;
}

/** Whether a receipt can be of this copy of a message, as far as place and time say it. */
export function mayMeanCopy(copy: Claim, { arrivedAt }: IncomingReceipt, carrier: string): boolean {
  return copy.carrier === carrier && (arrivedAt === undefined || copy.at <= arrivedAt);
}

function mayBeMeant(message: MessageDocument, receipt: IncomingReceipt, carrier: string): boolean {
  const { claim, parts, earlier = [] } = message;
  if (earlier.some((copy) => isOpen(copy.parts) && mayMeanCopy(copy, receipt, carrier))) return true;
  if (claim === undefined || !isUnanswered(message) || !mayMeanCopy(claim, receipt, carrier)) return false;
  return parts === undefined || isOpen(parts);
}

function isUnderWay({ state, outcome, claim }: MessageDocument, receipt: IncomingReceipt, carrier: string): boolean {
  return state === 'submitting' && outcome === undefined && claim !== undefined && mayMeanCopy(claim, receipt, carrier);
}

/** Whether a message that was found by this id can be meant. */
function fits(message: MessageDocument, key: string, receipt: IncomingReceipt): boolean {
  const { arrivedAt } = receipt;
  const cameAfter = arrivedAt === undefined || submittedAs(message, key) <= arrivedAt.getTime() + CLOCKS_MS;
  return cameAfter && fitsAddresses(message, receipt);
}

/** Addresses that are no numbers (masked, empty) say nothing. */
function fitsAddresses(message: MessageDocument, receipt: IncomingReceipt): boolean {
  const numbers = [receipt.from, receipt.to].filter((address) => digitsOf(address).length >= MIN_DIGITS);
  const masked = [receipt.from, receipt.to].some((address) => /[*xX]{2,}/.test(address));
  if (masked || digitsOf(receipt.from).length < MIN_DIGITS) return true;
  // Some carriers swap the two.
  return numbers.some((address) => isNumberOf(address, message.to));
}

const MIN_DIGITS = 6;

/** One is the other, or the other without country code or with a trunk prefix. */
function isNumberOf(address: string, to: string): boolean {
  const digits = digitsOf(address);
  if (digits.length < MIN_DIGITS) return false;
  return to.endsWith(digits) || digits.endsWith(to);
}

function isSenderOf(address: string, sender: string): boolean {
  if (address === '') return true; // Not told.
  return (
    address.toLowerCase() === sender.toLowerCase() ||
    (digitsOf(address) !== '' && digitsOf(address) === digitsOf(sender))
  );
}

function digitsOf(address: string): string {
  return address.replace(/\D/g, '').replace(/^0+/, '');
}
