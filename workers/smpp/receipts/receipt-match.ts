import { isOpen, isUnanswered } from '../../../shared/messages/copies.ts';
import type { Claim, MessageDocument, Part } from '../../../shared/messages/message.ts';
import type { PartReceipt, ReceiptTlvs } from '../../../shared/settlement/message-log.ts';
import type { CandidateKey } from '../dialect/message-ids.ts';

/** Which message a receipt can mean, by its ids, its addresses and its time. Pure; receipt-lookup.ts reads the messages. */

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
  /** Of esm_class 0: a handset may have typed it. It means only a message with its id to the number that it came from. */
  readonly plain?: true;
  /** Set when it was stored as an orphan earlier, and when that was. */
  readonly orphan?: string;
  readonly arrivedAt?: Date;
}

/** Clocks of two machines may differ by so much: one claims, the other takes the receipt. */
const CLOCKS_MS = 5_000;
/** An address with fewer digits says nothing. */
const MIN_DIGITS = 6;
/** As many digits at the end of two numbers are the same subscriber's, where the id is the same too. */
const SUBSCRIBER_DIGITS = 9;

/** Every id of its segments, of all copies. */
export function keysOf({ parts = [], earlier = [] }: MessageDocument): ReadonlySet<string> {
  return new Set([...earlier.flatMap((copy) => copy.parts), ...parts].flatMap(({ key }) => key ?? []));
}

/** When the last copy with this id was claimed; 0 when nobody knows. */
export function submittedAs({ claim, parts = [], earlier = [] }: MessageDocument, key: string): number {
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

/** Whether an answer that is still to come may bring its id. */
export function awaitsAnswer(unanswered: readonly MessageDocument[], { from }: IncomingReceipt): boolean {
  return unanswered.some(({ to }) => isNumberOf(from, to));
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
export function fits(message: MessageDocument, key: string, receipt: IncomingReceipt): boolean {
  const { arrivedAt } = receipt;
  const cameAfter = arrivedAt === undefined || submittedAs(message, key) <= arrivedAt.getTime() + CLOCKS_MS;
  return cameAfter && fitsAddresses(message, receipt);
}

/** Addresses that are no numbers (masked, empty) say nothing. */
function fitsAddresses(message: MessageDocument, receipt: IncomingReceipt): boolean {
  if (receipt.plain === true) return isNumberOf(receipt.from, message.to);
  const numbers = [receipt.from, receipt.to].filter((address) => digitsOf(address).length >= MIN_DIGITS);
  const masked = [receipt.from, receipt.to].some((address) => /[*xX]{2,}/.test(address));
  if (masked || digitsOf(receipt.from).length < MIN_DIGITS) return true;
  // Some carriers swap the two.
  return numbers.some((address) => isNumberOf(address, message.to) || endsAlike(address, message.to));
}

/** A carrier's rewrite rules change how a number begins (`rewriteRecipient`), and the receipt has the number as it was sent. */
function endsAlike(address: string, to: string): boolean {
  const end = digitsOf(address).slice(-SUBSCRIBER_DIGITS);
  return end.length === SUBSCRIBER_DIGITS && to.endsWith(end);
}

/** One is the other, or the other without country code or with a trunk prefix. */
function isNumberOf(address: string, to: string): boolean {
  const digits = digitsOf(address);
  if (digits.length < MIN_DIGITS) return false;
  return to.endsWith(digits) || digits.endsWith(to);
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
