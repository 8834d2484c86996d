import type { Collection, Db } from 'mongodb';
import type { CandidateKey } from '../carriers/message-key.ts';
import type { MessageDocument } from './message.ts';
import type { PartReceipt } from './receipt-outcome.ts';
import { STATES } from './status.ts';

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

/** What a receipt says beside its text (SMPP 3.4 §5.3.2), for people. */
export interface ReceiptTlvs {
  readonly receiptedMessageId?: string;
  readonly messageState?: number;
  /** Three octets in hexadecimal: type of network, code. */
  readonly networkErrorCode?: string;
}

export interface Hit {
  readonly message: MessageDocument;
  readonly key: string;
}

/** Messages sent of late that are remembered here: most receipts come within seconds and then need no read. */
const MAX_RECENT = 10_000;
/** Unanswered submits that a receipt is compared with; with more of them nothing is certain anyway. */
const MAX_UNANSWERED = 1_000;
/** All in one answer: the server's own first batch holds 101. */
const BATCH = 1_001;

/**
 * Finds the messages of receipts by the ids in them. Learns in which form the carrier writes ids in receipts: after a hit in
 * another form than expected, the next receipts are looked up in that one first, by one key each.
 */
export class ReceiptLookup {
  readonly #messages: Collection<MessageDocument>;
  readonly #carrier: string;
  #learned = '';
  /** By key, as they were stored last; out of date is harmless, a settle filters on the version. */
  readonly #recent = new Map<string, MessageDocument>();

  constructor(db: Db, carrier: string) {
    this.#messages = db.collection('messages');
    this.#carrier = carrier;
  }

  /** What is stored of a message now. Final ones are forgotten: they have had their receipt. */
  remember(message: MessageDocument): void {
    const final = STATES[message.state].final;
    for (const { key } of message.parts ?? []) {
      if (key === undefined) continue;
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
      receipts.map(({ candidates }) => candidates),
    );
    for (const [i, hit] of hits.entries()) {
      const form = receipts[i]?.candidates.find(({ key }) => key === hit?.key)?.form ?? '';
      if (form !== '') this.#learned = form;
    }
    return hits;
  }

  /**
   * Messages of the carrier that are being submitted or whose answer never came, to the numbers of these receipts: by its
   * addresses a receipt may fit one of them.
   */
  async submitting(): Promise<MessageDocument[]> {
    const found = await this.#messages
      .find({ 'claim.carrier': this.#carrier, state: 'submitting' }, { batchSize: BATCH })
      .limit(MAX_UNANSWERED + 1)
      .toArray();
    return found.length > MAX_UNANSWERED ? [] : found;
  }

  /** Among the messages sent of late, by the learned form; asks nobody. */
  recent(receipts: readonly IncomingReceipt[]): (Hit | undefined)[] {
    return receipts.map((receipt) => {
      const key = this.#likely(receipt)?.key;
      const message = key === undefined ? undefined : this.#recent.get(key);
      if (key === undefined || message === undefined || !fitsAddresses(message, receipt)) return undefined;
      return { message, key };
    });
  }

  #likely({ candidates }: IncomingReceipt): CandidateKey | undefined {
    return candidates.find(({ form }) => form === this.#learned) ?? candidates[0];
  }

  async #find(
    receipts: readonly IncomingReceipt[],
    keys: readonly (readonly (CandidateKey | undefined)[])[],
  ): Promise<(Hit | undefined)[]> {
    const wanted = keys.flat().flatMap((candidate) => candidate?.key ?? []);
    if (wanted.length === 0) return receipts.map(() => undefined);
    const found = await this.#messages.find({ 'parts.key': { $in: wanted } }, { batchSize: BATCH }).toArray();
    const byKey = new Map<string, MessageDocument[]>();
    for (const message of found) {
      for (const { key } of message.parts ?? []) {
        if (key !== undefined) byKey.set(key, [...(byKey.get(key) ?? []), message]);
      }
    }
    return receipts.map((receipt, i) => {
      for (const candidate of keys[i] ?? []) {
        if (candidate === undefined) continue;
        // Carriers use ids again: the newest message that the addresses fit.
        const fitting = (byKey.get(candidate.key) ?? []).filter((message) => fitsAddresses(message, receipt));
        const message = fitting.reduce<MessageDocument | undefined>(newer, undefined);
        if (message !== undefined) return { message, key: candidate.key };
      }
      return undefined;
    });
  }
}

/**
 * The one message among `submitting` that a receipt can mean by its addresses, if it is one whose answer never came. None that
 * was claimed after the receipt had come.
 */
export function onlyUnknown(
  submitting: readonly MessageDocument[],
  receipt: IncomingReceipt,
): MessageDocument | undefined {
  const fitting = submitting.filter(
    (message) =>
      isNumberOf(receipt.from, message.to) &&
      isSenderOf(receipt.to, message.sender) &&
      (receipt.arrivedAt === undefined || message.claim === undefined || message.claim.at <= receipt.arrivedAt),
  );
  const [only] = fitting;
  return fitting.length === 1 && only?.outcome === 'unknown' ? only : undefined;
}

/** Whether a message that was found by an id can be meant. Addresses that are no numbers (masked, empty) say nothing. */
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

function newer(best: MessageDocument | undefined, message: MessageDocument): MessageDocument {
  return best === undefined || message._id > best._id ? message : best;
}
