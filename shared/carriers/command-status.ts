/**
 * What a carrier's answer to submit_sm means for the message.
 *
 * - `accepted`: the carrier has taken it.
 * - `throttled`: we must slow down. The message keeps its place in the queue.
 * - `retry`: the message waits and is tried again a few times.
 * - `bind`: the session is not usable. The message goes back to the queue.
 * - `failover`: this carrier certainly did not take it, but another one may. The message goes to the next carrier of its route.
 *   If there is none, it is refused for good.
 * - `rejected`: it is refused for good, whichever carrier gets it.
 */
export type CommandStatusClass = 'accepted' | 'throttled' | 'retry' | 'bind' | 'failover' | 'rejected';

/** Statuses that our code names (SMPP 3.4 §5.1.3). */
export const STATUS = {
  ok: 0x00,
  invalidCommandId: 0x03,
  incorrectBindStatus: 0x04,
  alreadyBound: 0x05,
  systemError: 0x08,
  bindFailed: 0x0d,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  queueFull: 0x14,
  throttled: 0x58,
  receiverRejects: 0x65,
} as const;

/**
 * The standard's codes (SMPP 3.4 §5.1.3) as answers to submit_sm, in the classes that most carriers agree on; a
 * carrier's deviations belong in its `statusClass`. Ambiguous codes (0x45, 0xFE, 0xFF) are tried again a few times.
 *
 * `failover` has only codes where the carrier took nothing and another carrier may decide differently: addresses and
 * their types, coverage (0x22 at Infobip), and our login's settings. Not 0x0C: some carriers answer it for a message
 * that they already have (Infobip: duplicate message id). Vendors' own codes are in no class: 0x0401 is an empty
 * balance at one vendor and a listed number at the next.
 */
const RULES: readonly (readonly [status: number, means: CommandStatusClass, reason: string])[] = [
  [0x00, 'accepted', 'Accepted'],
  [0x01, 'rejected', 'Invalid message length'],
  [0x02, 'rejected', 'Invalid command length'],
  [0x03, 'rejected', 'Invalid command'],
  [0x04, 'bind', 'Not allowed in this bind state'],
  [0x05, 'bind', 'Already bound'],
  [0x06, 'rejected', 'Invalid priority flag'],
  [0x07, 'rejected', 'Invalid registered delivery flag'],
  [0x08, 'retry', 'System error at the carrier'],
  [0x0a, 'failover', 'Invalid source address'],
  [0x0b, 'failover', 'Invalid destination address'],
  [0x0c, 'rejected', 'Invalid message id'],
  [0x0d, 'bind', 'Bind failed'],
  [0x0e, 'bind', 'Invalid password'],
  [0x0f, 'bind', 'Invalid system id'],
  [0x11, 'rejected', 'Cancel failed'],
  [0x13, 'rejected', 'Replace failed'],
  [0x14, 'retry', 'Message queue full at the carrier'],
  [0x15, 'failover', 'Invalid service type'],
  [0x22, 'failover', 'Network not covered'],
  [0x33, 'rejected', 'Invalid number of destinations'],
  [0x34, 'rejected', 'Invalid distribution list'],
  [0x40, 'rejected', 'Invalid destination flag'],
  [0x42, 'rejected', 'Invalid submit with replace'],
  [0x43, 'rejected', 'Invalid esm_class'],
  [0x44, 'rejected', 'Cannot submit to distribution list'],
  [0x45, 'retry', 'Submit failed'],
  [0x48, 'failover', 'Invalid source address type'],
  [0x49, 'failover', 'Invalid source numbering plan'],
  [0x50, 'failover', 'Invalid destination address type'],
  [0x51, 'failover', 'Invalid destination numbering plan'],
  [0x53, 'failover', 'Invalid system type'],
  [0x54, 'rejected', 'Invalid replace flag'],
  [0x55, 'rejected', 'Invalid number of messages'],
  [0x58, 'throttled', 'Throttled by the carrier'],
  [0x61, 'rejected', 'Invalid scheduled delivery time'],
  [0x62, 'rejected', 'Invalid validity period'],
  [0x63, 'rejected', 'Invalid predefined message'],
  [0x64, 'retry', 'Temporary error at the receiver'],
  [0x65, 'rejected', 'Permanent error at the receiver'],
  [0x66, 'rejected', 'Rejected by the receiver'],
  [0x67, 'failover', 'Query failed'],
  [0xc0, 'rejected', 'Invalid optional parameters'],
  [0xc1, 'rejected', 'Optional parameter not allowed'],
  [0xc2, 'rejected', 'Invalid parameter length'],
  [0xc3, 'rejected', 'Expected optional parameter missing'],
  [0xc4, 'rejected', 'Invalid optional parameter value'],
  [0xfe, 'retry', 'Delivery failure'],
  [0xff, 'retry', 'Unknown error'],
];
const BY_STATUS = new Map(RULES.map((rule) => [rule[0], rule]));

/** An unknown status is `rejected`. */
export function statusClass(status: number): CommandStatusClass {
  return BY_STATUS.get(status)?.[1] ?? 'rejected';
}

export function statusReason(status: number): string {
  return BY_STATUS.get(status)?.[2] ?? "An error of the carrier's own";
}

/** As `error_code` has it: `0x0B`, `0x0401`. */
export function statusText(status: number): string {
  const digits = status.toString(16).toUpperCase();
  return `0x${digits.padStart(digits.length + (digits.length % 2), '0')}`;
}
