import type { LostSubmits } from '../../../shared/carriers/smpp/unanswered-submits.ts';
import type { CarrierAnswer } from './carrier-answer.ts';

/**
 * The port between what takes and settles messages and what speaks with the carrier: `smpp-wire.ts` speaks SMPP. A bind
 * opens sessions of one wire again and again, and knows nothing of its protocol.
 */
export interface Wire<Context> {
  /** How many sessions make up a bind. Submits go over the first one. */
  readonly sessions: number;
  /** After this many tries each address of the carrier was tried. */
  readonly turns: number;
  /** Connects at once. `turn` counts the failed tries since the last bind that worked. */
  open(index: number, turn: number, events: WireEvents<Context>): WireSession<Context>;
}

export interface WireEvents<Context> {
  /** The connection is made, and `bind` may be called. */
  onOpen(): void;
  onAnswer(context: Context, answer: CarrierAnswer): void;
  /** No answer came in time, or none that can be read. One may still come, and `onAnswer` is then called too. */
  onTimeout(context: Context): void;
  /** The peer asks to unbind. `confirm` agrees. */
  onUnbind(confirm: () => void): void;
  /** Called once. Every submit without an answer is in `lost`. */
  onClose(reason: string, lost: LostSubmits<Context>): void;
}

/** What a submitter needs of a session. */
export interface SubmitSession<Context> {
  readonly open: boolean;
  /** Whether the peer reads so slowly that further submits would only fill our memory. */
  readonly congested: boolean;
  submit(context: Context): void;
}

export interface WireSession<Context> extends SubmitSession<Context> {
  /** When the certificate of the carrier ends. Undefined without TLS. */
  readonly certificateUntil: Date | undefined;
  /** Resolves to the command_status of the answer; 0 where a protocol has no bind. */
  bind(timeoutMs: number): Promise<number | 'no_answer'>;
  /** Ends in agreement with the peer: answers of ours first, at most `answersMs`. */
  unbind(timeoutMs: number, answersMs: number): Promise<unknown>;
  /** Reads nothing for this time, so that the peer has to slow down. */
  pauseReading(ms: number): void;
  end(): void;
  destroy(reason: string): void;
}
