import { COMMAND, TAG } from '../smpp/commands.ts';
import type { Tlvs } from '../smpp/read-fields.ts';
import { encodeGsm7, encodeUcs2, fitsGsm7 } from '../smpp/text.ts';
import { writePdu } from '../smpp/write-pdu.ts';

/** The content of one deliver_sm (SMPP 3.4 §4.6.1). It is a receipt or a message from a phone. */
export interface DeliverSm {
  readonly from: string;
  readonly fromTon: number;
  readonly fromNpi: number;
  readonly to: string;
  readonly toTon: number;
  readonly toNpi: number;
  readonly esmClass: number;
  readonly dataCoding: number;
  /** Up to 254 octets are sent as short_message, more as message_payload. */
  readonly userData: Buffer;
  readonly tlvs: Tlvs;
}

/** The largest value of sm_length (SMPP 3.4 §4.6.1). */
const SHORT_MESSAGE_OCTETS = 254;

/** Writes the PDU. `withTlvs` must be false for a peer whose interface_version is below 3.4 (§1.5). */
export function writeDeliverSm(content: DeliverSm, sequence: number, withTlvs: boolean): Buffer {
  const isShort = content.userData.length <= SHORT_MESSAGE_OCTETS;
  const shortMessage = isShort ? content.userData : content.userData.subarray(0, 0);
  return writePdu(COMMAND.deliverSm, 0, sequence, (fields) => {
    fields.cString('').uint8(content.fromTon).uint8(content.fromNpi).cString(content.from);
    fields.uint8(content.toTon).uint8(content.toNpi).cString(content.to);
    fields.uint8(content.esmClass).uint8(0).uint8(0).cString('').cString('').uint8(0).uint8(0);
    fields.uint8(content.dataCoding).uint8(0).uint8(shortMessage.length).octets(shortMessage);
    if (!isShort) fields.tlv(TAG.messagePayload, content.userData);
    if (withTlvs) for (const [tag, value] of content.tlvs) fields.tlv(tag, value);
  });
}

/** A message from a phone. `text` is encoded, unless `userData` is given. */
export interface MobileOriginated extends Partial<DeliverSm> {
  readonly from: string;
  readonly to: string;
  readonly text?: string;
  /** The account that gets the message. If it is absent, exactly one account must be bound. */
  readonly systemId?: string;
}

/**
 * Numbers are international ISDN unless the caller says otherwise. If `userData` has a header, the caller must set the UDH
 * indicator in `esmClass`.
 */
const DEFAULTS = { fromTon: 1, fromNpi: 1, toTon: 1, toNpi: 1, esmClass: 0, tlvs: new Map<number, Buffer>() };

export function phoneMessage(message: MobileOriginated): DeliverSm {
  const text = message.text ?? '';
  const isGsm = fitsGsm7(text);
  return {
    ...DEFAULTS,
    dataCoding: isGsm ? 0 : 8,
    userData: isGsm ? encodeGsm7(text) : encodeUcs2(text),
    ...message,
  };
}
