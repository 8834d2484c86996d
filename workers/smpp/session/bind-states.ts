import type { BindReport } from '../../../shared/carriers/bind-report.ts';

export type BindState = BindReport['state'];

/** Every state of a bind: what it is, how it ends, and the states it may lead to. `Bind` refuses every other way. */
const STATES: Readonly<Record<BindState, readonly BindState[]>> = {
  /** Before `start`, and for good after `stop`. Ends with `start`. */
  closed: ['connecting'],
  /** TCP (and TLS) of all its sessions. Ends when all are connected, when one cannot be, or with `stop`. */
  connecting: ['binding', 'backoff', 'closed'],
  /** The bind requests are under way. Ends when all are accepted, with a refusal, a lost connection or `stop`. */
  binding: ['bound', 'backoff', 'closed'],
  /** Submits may be written, receipts come. Ends with `stop` or the peer's unbind (`draining`), or when the connection is lost. */
  bound: ['draining', 'backoff'],
  /** No more submits; what is unanswered is waited for. Then `stop` closes, and after the peer's unbind it waits to connect. */
  draining: ['backoff', 'closed'],
  /** Nothing is connected. Ends when the pause is over, or with `stop`. */
  backoff: ['connecting', 'closed'],
};

export function mayBecome(from: BindState, to: BindState): boolean {
  return STATES[from].includes(to);
}
