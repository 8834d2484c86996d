import type { BindReport } from '../../../shared/carriers/bind-report.ts';

export type BindState = BindReport['state'];

/** Every state of a bind, when it ends, and the states that may follow. `Bind` refuses every other change. */
const STATES: Readonly<Record<BindState, readonly BindState[]>> = {
  /** Not started, or stopped for good. Ends with `start`. */
  closed: ['connecting'],
  /**
   * All its sessions connect by TCP, and TLS if it is set. Ends when all are connected, when one cannot connect, or with `stop`.
   */
  connecting: ['binding', 'backoff', 'closed'],
  /**
   * The bind requests were sent. Ends when the carrier accepts all, when it refuses one, when a connection is lost, or with
   * `stop`.
   */
  binding: ['bound', 'backoff', 'closed'],
  /**
   * Submits may be written, and receipts come in. Ends with `stop`, with the carrier's unbind, when an answer says that the session
   * is not usable (each: `draining`), or when a connection is lost.
   */
  bound: ['draining', 'backoff'],
  /**
   * No more submits are written; answers to earlier ones are awaited. After `stop` it then closes. Otherwise it waits and connects
   * again.
   */
  draining: ['backoff', 'closed'],
  /** Not connected; waits before the next try. Ends when the pause is over, or with `stop`. */
  backoff: ['connecting', 'closed'],
};

export function mayBecome(from: BindState, to: BindState): boolean {
  return STATES[from].includes(to);
}
