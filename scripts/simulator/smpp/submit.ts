import { FieldReader, HEADER_OCTETS, MalformedPdu, MESSAGE_STATE, STATUS, TAG, type Tlvs } from './pdu.ts';
import { alphabetOf, type DefaultAlphabet, decodeDefault, decodeText, septetsOfDefault } from './text.ts';

/** One radio message carries 140 octets, or 160 septets (3GPP TS 23.040 §9.2.3.16). */
const USER_DATA_OCTETS = 140;

/** Absolute or relative time, `YYMMDDhhmmsstnnp` (SMPP 3.4 §7.1.1). Empty means none. */
const TIME = /^(?:\d{15}[-+R])?$/;

/**
 * One submit_sm (SMPP 3.4 §4.4.1), a segment of a message. It owns a copy of its octets, so it may be kept. The text is
 * decoded only on demand, because that costs time at full speed.
 */
export class Submit {
  readonly sessionId: number;
  readonly systemId: string;
  readonly sequence: number;
  readonly serviceType: string;
  readonly fromTon: number;
  readonly fromNpi: number;
  readonly from: string;
  readonly toTon: number;
  readonly toNpi: number;
  readonly to: string;
  readonly esmClass: number;
  readonly protocolId: number;
  readonly priority: number;
  readonly scheduleTime: string;
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly replaceIfPresent: number;
  readonly dataCoding: number;
  readonly tlvs: Tlvs;
  /** Header and text, from short_message or message_payload. */
  readonly userData: Buffer;
  /** The user data header with its length octet, or empty. */
  readonly header: Buffer;
  readonly receivedAt: number = Date.now();
  readonly #alphabet: DefaultAlphabet;

  messageId = '';
  /** A word of Appendix B; ENROUTE until the last receipt is due. */
  state = 'ENROUTE';

  /** Throws {@link MalformedPdu} with the command_status to answer. */
  constructor(frame: Buffer, sessionId: number, systemId: string, alphabet: DefaultAlphabet) {
    this.#alphabet = alphabet;
    const own = Buffer.from(frame);
    const fields = new FieldReader(own);
    this.sessionId = sessionId;
    this.systemId = systemId;
    this.sequence = own.readUInt32BE(HEADER_OCTETS - 4);
    this.serviceType = fields.cString(6, STATUS.invalidServiceType);
    this.fromTon = fields.uint8();
    this.fromNpi = fields.uint8();
    this.from = fields.cString(21, STATUS.invalidSource);
    this.toTon = fields.uint8();
    this.toNpi = fields.uint8();
    this.to = fields.cString(21, STATUS.invalidDestination);
    this.esmClass = fields.uint8();
    this.protocolId = fields.uint8();
    this.priority = fields.uint8();
    this.scheduleTime = fields.cString(17, STATUS.invalidSchedule);
    this.validityPeriod = fields.cString(17, STATUS.invalidExpiry);
    this.registeredDelivery = fields.uint8();
    this.replaceIfPresent = fields.uint8();
    this.dataCoding = fields.uint8();
    fields.uint8(); // sm_default_msg_id: there are no canned messages.
    const shortMessage = fields.octets(fields.uint8());
    this.tlvs = fields.tlvs();

    const payload = this.tlvs.get(TAG.messagePayload);
    if (payload !== undefined && shortMessage.length > 0) {
      throw new MalformedPdu('short_message and message_payload', STATUS.tlvNotAllowed);
    }
    this.userData = payload ?? shortMessage;
    const header = headerOf(this.esmClass, this.userData);
    if (header === undefined) throw new MalformedPdu('user data header', STATUS.invalidMessageLength);
    this.header = header;
    this.#check(payload !== undefined);
  }

  get body(): Buffer {
    return this.userData.subarray(this.header.length);
  }

  /** The text of this segment alone, as a phone would show it. */
  get text(): string {
    if (this.dataCoding === 0) return decodeDefault(this.body, this.#alphabet, this.header.length);
    return decodeText(this.body, this.dataCoding);
  }

  /** `state` as a message_state (SMPP 3.4 §5.2.28). */
  get messageState(): number {
    return MESSAGE_STATE[this.state] ?? 0;
  }

  get concatenation(): Concatenation | undefined {
    if (this.header.length === 0 && !this.tlvs.has(TAG.sarReference)) return undefined;
    return concatenationOf(this.header, this.tlvs);
  }

  /** Refuses what a carrier could not send. A message_payload has no limit: the carrier splits it. */
  #check(isPayload: boolean): void {
    if (this.to === '') throw new MalformedPdu('no destination', STATUS.invalidDestination);
    if (!TIME.test(this.scheduleTime)) throw new MalformedPdu('schedule_delivery_time', STATUS.invalidSchedule);
    if (!TIME.test(this.validityPeriod)) throw new MalformedPdu('validity_period', STATUS.invalidExpiry);
    if (isPayload) return;

    const alphabet = alphabetOf(this.dataCoding);
    const octets = this.userData.length - this.header.length;
    const isText = alphabet === 'gsm7' || alphabet === 'ascii';
    const septets = this.dataCoding === 0 ? septetsOfDefault(this.body, this.#alphabet, this.header.length) : octets;
    const packed = isText ? Math.ceil((septets * 7) / 8) : octets;
    if (this.header.length + packed > USER_DATA_OCTETS) {
      throw new MalformedPdu('longer than one radio message', STATUS.invalidMessageLength);
    }
  }
}

/** The bit of esm_class for a user data header (SMPP 3.4 §5.2.12). */
const UDH_INDICATOR = 0x40;

/** A segment's place in a longer text. `kind` separates 8-bit and 16-bit references of the same value. */
interface Concatenation {
  readonly kind: 'udh8' | 'udh16' | 'sar';
  readonly reference: number;
  readonly total: number;
  /** From 1. */
  readonly part: number;
}

/**
 * The user data header with its length octet (3GPP TS 23.040 §9.2.3.24). Empty if esm_class announces none, undefined
 * if the announced one does not fit.
 */
export function headerOf(esmClass: number, userData: Buffer): Buffer | undefined {
  if ((esmClass & UDH_INDICATOR) === 0) return userData.subarray(0, 0);
  const end = 1 + (userData[0] ?? Number.POSITIVE_INFINITY);
  return end <= userData.length ? userData.subarray(0, end) : undefined;
}

/** A segment's place in its text: from element 0x00 or 0x08 of the header, or from the three sar_ parameters. */
export function concatenationOf(header: Buffer, tlvs: Tlvs): Concatenation | undefined {
  for (let at = 1; at + 1 < header.length; ) {
    const element = header[at];
    const octets = header[at + 1] ?? 0;
    const data = header.subarray(at + 2, at + 2 + octets);
    if (element === 0x00 && data.length === 3) return valid('udh8', data.readUInt8(0), data.subarray(1));
    if (element === 0x08 && data.length === 4) return valid('udh16', data.readUInt16BE(0), data.subarray(2));
    at += 2 + octets;
  }

  const reference = tlvs.get(TAG.sarReference);
  const total = tlvs.get(TAG.sarTotal);
  const part = tlvs.get(TAG.sarSequence);
  if (reference?.length !== 2 || total?.length !== 1 || part?.length !== 1) return undefined;
  return valid('sar', reference.readUInt16BE(), Buffer.concat([total, part]));
}

/** TS 23.040 §9.2.3.24.1: ignores an element whose total is 0, or whose part is 0 or above the total. */
function valid(kind: Concatenation['kind'], reference: number, totalAndPart: Buffer): Concatenation | undefined {
  const [total = 0, part = 0] = totalAndPart;
  return part >= 1 && part <= total ? { kind, reference, total, part } : undefined;
}

/** A message as a phone would show it, and its segments in order. */
export interface WholeText {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly parts: readonly Submit[];
}

/** Texts that may wait for missing parts; the oldest is forgotten first, as on a phone. */
const MAX_OPEN = 1_000;

/**
 * Joins segments by sender, destination and reference (3GPP TS 23.040 §9.2.3.24.1), in any order. Segments are decoded
 * one by one, so a character cut between two of them shows as `U+FFFD`.
 */
export class Reassembly {
  readonly #open = new Map<string, (Submit | undefined)[]>();

  /** Returns the whole text if `submit` completes it. */
  add(submit: Submit): WholeText | undefined {
    const concatenation = submit.concatenation;
    if (concatenation === undefined || concatenation.total === 1) return join([submit]);

    const { kind, reference, total, part } = concatenation;
    const key = `${submit.from}\n${submit.to}\n${kind}\n${reference}\n${total}`;
    const parts = this.#open.get(key) ?? new Array<Submit | undefined>(total).fill(undefined);
    parts[part - 1] = submit;
    const present = parts.filter((each) => each !== undefined);
    if (present.length === total) {
      this.#open.delete(key);
      return join(present);
    }

    this.#open.set(key, parts);
    if (this.#open.size > MAX_OPEN) {
      for (const oldest of this.#open.keys()) {
        this.#open.delete(oldest);
        break;
      }
    }
    return undefined;
  }
}

/** In the order in which they became complete. */
export function wholeTexts(submits: readonly Submit[]): WholeText[] {
  const reassembly = new Reassembly();
  return submits.map((submit) => reassembly.add(submit)).filter((text) => text !== undefined);
}

function join(parts: readonly Submit[]): WholeText {
  const text = parts.map((part) => part.text).join('');
  return { from: parts[0]?.from ?? '', to: parts[0]?.to ?? '', text, parts };
}
