import { COMMAND, responseTo, STATUS, TAG } from './commands.ts';
import { FieldReader } from './read-fields.ts';
import { writePdu } from './write-pdu.ts';

export type BindKind = 'receiver' | 'transmitter' | 'transceiver';

/** A bind_receiver, bind_transmitter or bind_transceiver (SMPP 3.4 §4.1). */
export interface BindRequest {
  readonly kind: BindKind;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  readonly interfaceVersion: number;
  readonly addressRange: string;
}

/** A peer must have at least this interface_version before it may be sent optional parameters (SMPP 3.4 §1.5). */
export const VERSION_WITH_TLVS = 0x34;

/** The kind of bind that a command_id means. Undefined if the command is no bind. */
export function bindKindOf(command: number): BindKind | undefined {
  switch (command) {
    case COMMAND.bindReceiver:
      return 'receiver';
    case COMMAND.bindTransmitter:
      return 'transmitter';
    case COMMAND.bindTransceiver:
      return 'transceiver';
    default:
      return undefined;
  }
}

/** Reads a bind request. Throws `MalformedPdu` with the command_status to answer. */
export function readBind(kind: BindKind, frame: Buffer): BindRequest {
  const fields = new FieldReader(frame);
  const systemId = fields.cString(16, STATUS.invalidSystemId);
  const password = fields.cString(9, STATUS.invalidPassword);
  const systemType = fields.cString(13, STATUS.bindFailed);
  const interfaceVersion = fields.uint8();
  fields.uint8(); // addr_ton
  fields.uint8(); // addr_npi
  const addressRange = fields.cString(41, STATUS.bindFailed);
  return { kind, systemId, password, systemType, interfaceVersion, addressRange };
}

/** The answer to a bind: our name, and also our version if the peer's version allows optional parameters. */
export function bindResponse(command: number, sequence: number, systemId: string, interfaceVersion: number): Buffer {
  return writePdu(responseTo(command), STATUS.ok, sequence, (fields) => {
    fields.cString(systemId);
    if (interfaceVersion >= VERSION_WITH_TLVS) fields.tlv(TAG.scInterfaceVersion, Uint8Array.of(VERSION_WITH_TLVS));
  });
}
