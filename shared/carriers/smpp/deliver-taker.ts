import type { Deliver } from './deliver-sm.ts';

/** The state of a session that brought a deliver_sm. */
export interface DeliverSession {
  readonly open: boolean;
  /** When the peer last sent something, by the monotonic clock. */
  readonly heardMs: number;
  /** When we asked to unbind. Set once the peer has answered that. */
  readonly unboundMs?: number | undefined;
}

/** The session and the PDU that a deliver_sm came in. */
export interface DeliverVia {
  readonly session: DeliverSession;
  readonly sequence: number;
}

/** Takes what the carrier delivers (receipts/receive.ts). */
export interface DeliverTaker {
  /**
   * Takes one deliver_sm or data_sm. Calls `answer` once, now or later; status 0 says that it was taken. `via` names this session
   * and the PDU. Never rejects.
   */
  take(deliver: Deliver, answer: (status: number) => void, via: DeliverVia): Promise<void>;
}
