import { isOpen, isUnanswered } from '../../../shared/messages/document/copies.ts';
import type { Claim, MessageDocument, Part, ReceiptTlvs } from '../../../shared/messages/document/message.ts';
import type { PartReceipt } from '../../../shared/messages/settlement/message-log.ts';
import type { CandidateKey } from '../dialect/message-ids.ts';

/** Decides which message a receipt can mean, by ids, addresses and time. Pure: receipt-lookup.ts reads messages. */

/** A final receipt as a carrier sent it, with every key that it may mean. */
export interface IncomingReceipt {
  /** At least one key, the most likely first. */
  readonly candidates: readonly CandidateKey[];
  /** The first of them, where the others are made only when somebody asks. */
  readonly first?: CandidateKey;
  /** Usually the number of the handset. */
  readonly from: string;
  /** Usually our sender. */
  readonly to: string;
  readonly part: PartReceipt;
  readonly excerpt: string;
  readonly tlvs?: ReceiptTlvs;
  /** esm_class 0: a handset may have typed it. It can only mean a message with its id to its own number. */
  readonly plain?: true;
  /** If it was stored as an orphan earlier: its id there. `arrivedAt` is the time at which it came. */
  readonly orphan?: string;
  readonly arrivedAt?: Date;
}

/** How long a receipt that fits no message is kept, and an earlier copy of a message compared with receipts. */
export const ORPHAN_MS = 72 * 3_600_000;
/** The clocks of two machines may differ by this much. One claims a message, another gets the receipt. */
const CLOCKS_MS = 5_000;
/** An address with fewer digits proves nothing. */
const MIN_DIGITS = 6;
/** If the id fits too, numbers with this many equal digits at the end belong to the same subscriber. */
const SUBSCRIBER_DIGITS = 9;

/** The ids of all segments, in all copies, also in the one that its carrier gave up. */
export function keysOf({ parts = [], earlier = [], givenUp }: MessageDocument): ReadonlySet<string> {
  const others = [...earlier, ...(givenUp === undefined ? [] : [givenUp])].flatMap((copy) => copy.parts);
  return new Set([...others, ...parts].flatMap(({ key }) => key ?? []));
}

/** When the last copy with this id was claimed, in milliseconds since 1970. 0 if that is unknown. */
export function submittedAs({ claim, parts = [], earlier = [], givenUp }: MessageDocument, key: string): number {
  const has = (copy: readonly Part[]): boolean => copy.some((part) => part.key === key);
  const copies = givenUp === undefined ? earlier : [givenUp, ...earlier];
  const copy = has(parts) ? claim : copies.findLast((one) => has(one.parts));
  return copy?.at.getTime() ?? 0;
}

/**
 * The only message among `unanswered` (which the carrier never answered, or an earlier copy of them) that a receipt can
 * mean by its addresses. Undefined also if a fitting message is just being submitted: its answer may bring the id.
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

/** A fitting message is just being submitted: its answer may bring the very id. Masked addresses fit every message. */
export function isAnswerDue(
  unanswered: readonly MessageDocument[],
  receipt: IncomingReceipt,
  carrier: string,
): boolean {
  return unanswered.some((message) => fitsAddresses(message, receipt) && isUnderWay(message, receipt, carrier));
}

/** Whether an answer that has not come yet may bring the receipt's id. */
export function awaitsAnswer(unanswered: readonly MessageDocument[], { from }: IncomingReceipt): boolean {
  return unanswered.some(({ to }) => isNumberOf(from, to));
}

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

/** Whether a message with this id can be meant, by the time and the addresses. */
export function fits(message: MessageDocument, key: string, receipt: IncomingReceipt): boolean {
  const { arrivedAt } = receipt;
  const cameAfter = arrivedAt === undefined || submittedAs(message, key) <= arrivedAt.getTime() + CLOCKS_MS;
  return cameAfter && fitsAddresses(message, receipt);
}

/** Addresses that are not numbers (masked or empty) prove nothing. */
function fitsAddresses(message: MessageDocument, receipt: IncomingReceipt): boolean {
  if (receipt.plain === true) return isNumberOf(receipt.from, message.to);
  const numbers = [receipt.from, receipt.to].filter((address) => digitsOf(address).length >= MIN_DIGITS);
  const masked = [receipt.from, receipt.to].some((address) => /[*xX]{2,}/.test(address));
  if (masked || digitsOf(receipt.from).length < MIN_DIGITS) return true;
  // Some carriers swap the two addresses.
  return numbers.some((address) => isNumberOf(address, message.to));
}

/**
 * Whether two numbers are equal, also without a country code or with a trunk prefix. The last nine digits are enough:
 * the receipt has the number as it was sent, and a carrier's `rewriteRecipient` may have changed its beginning.
 */
function isNumberOf(address: string, to: string): boolean {
  const digits = digitsOf(address);
  if (digits.length < MIN_DIGITS) return false;
  const end = digits.slice(-SUBSCRIBER_DIGITS);
  return to.endsWith(digits) || digits.endsWith(to) || (end.length === SUBSCRIBER_DIGITS && to.endsWith(end));
}

function isSenderOf(address: string, sender: string): boolean {
  if (address === '') return true; // The receipt has no such address.
  return (
    address.toLowerCase() === sender.toLowerCase() ||
    (digitsOf(address) !== '' && digitsOf(address) === digitsOf(sender))
  );
}

function digitsOf(address: string): string {
  return address.replace(/\D/g, '').replace(/^0+/, '');
}
