import type { InboundId } from '../runtime/ids.ts';

/**
 * A deliver_sm with a handset's message, stored before it is answered: a whole message, or one part of a longer one. It is removed
 * when it has become a message of an account and our answer has surely reached the carrier. Until then it has `due`, and the next
 * holder of the carrier's lease does again what follows from it (docs/decisions/0048).
 */
export interface InboundDocument {
  readonly _id: InboundId;
  readonly carrier: string;
  readonly at: Date;
  /** As the carrier wrote them, with the type of number of the sender (SMPP 3.4 §5.2.5). */
  readonly from: string;
  readonly fromTon: number;
  readonly to: string;
  readonly dataCoding: number;
  /** The user data in base64: without its header, packed septets unpacked. */
  readonly octets: string;
  readonly part?: InboundPart;
  /** Equal for equal deliver_sm. */
  readonly fingerprint: string;
  /** Set until it is finished: when it came; for a part, when it is told without those that are missing. */
  readonly due?: Date;
  /** Set when it belongs to no account; in the first part of a longer message for all of them. */
  readonly stray?: StrayText;
  /** Of what belongs to nobody: the store removes it then. */
  readonly expiresAt?: Date;
}

/** Which part of which message. */
export interface InboundPart {
  /** The first part of this message that came. The message's id derives from it. */
  readonly set: InboundId;
  /** Equal for the parts of one message: their addresses, reference and total. */
  readonly key: string;
  readonly number: number;
  readonly total: number;
}

/** What a message says that belongs to nobody. */
export interface StrayText {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly body: string;
}
