/** The numbers of SMPP 3.4 that the simulator uses. They were copied from the specification only, not from the product. */

/** The command_id of each request (SMPP 3.4 §5.1.2.1). {@link responseTo} gives the ids of responses. */
export const COMMAND = {
  bindReceiver: 0x01,
  bindTransmitter: 0x02,
  querySm: 0x03,
  submitSm: 0x04,
  deliverSm: 0x05,
  unbind: 0x06,
  bindTransceiver: 0x09,
  enquireLink: 0x15,
  genericNack: 0x80000000,
} as const;

/** The command_id of the answer to `command`. */
export function responseTo(command: number): number {
  return (command | COMMAND.genericNack) >>> 0;
}

/** The values of command_status (SMPP 3.4 §5.1.3) that the simulator answers with. */
export const STATUS = {
  ok: 0x00,
  invalidMessageLength: 0x01,
  invalidCommandLength: 0x02,
  invalidCommand: 0x03,
  invalidBindStatus: 0x04,
  alreadyBound: 0x05,
  systemError: 0x08,
  invalidSource: 0x0a,
  invalidDestination: 0x0b,
  invalidMessageId: 0x0c,
  bindFailed: 0x0d,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  messageQueueFull: 0x14,
  invalidServiceType: 0x15,
  throttled: 0x58,
  invalidSchedule: 0x61,
  invalidExpiry: 0x62,
  temporaryApplicationError: 0x64,
  queryFailed: 0x67,
  invalidTlvStream: 0xc0,
  tlvNotAllowed: 0xc1,
} as const;

/** The optional parameters (SMPP 3.4 §5.3.2) that the simulator reads or writes by name. All others are kept as they came. */
export const TAG = {
  receiptedMessageId: 0x001e,
  sarReference: 0x020c,
  sarTotal: 0x020e,
  sarSequence: 0x020f,
  scInterfaceVersion: 0x0210,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const;

/** The values of message_state (SMPP 3.4 §5.2.28), by the word that Appendix B has for each. */
export const MESSAGE_STATE: Readonly<Record<string, number>> = {
  ENROUTE: 1,
  DELIVRD: 2,
  EXPIRED: 3,
  DELETED: 4,
  UNDELIV: 5,
  ACCEPTD: 6,
  UNKNOWN: 7,
  REJECTD: 8,
};

/** The header has four fields: command_length, command_id, command_status, sequence_number (SMPP 3.4 §3.2). */
export const HEADER_OCTETS = 16;
