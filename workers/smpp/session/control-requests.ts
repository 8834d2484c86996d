import { COMMAND, type PduHeader, responseOf } from './pdu.ts';

interface ControlRequest {
  readonly response: number;
  readonly deadlineMs: number;
  readonly resolve: (status: number | 'no_answer') => void;
}

/** The bind, unbind and enquire_link requests of a session that wait for their answers, by sequence number. */
export class ControlRequests {
  readonly #open = new Map<number, ControlRequest>();

  /** Resolves to the answer's command_status, or to `no_answer` at the deadline or when the connection ends. */
  add(sequence: number, command: number, deadlineMs: number): Promise<number | 'no_answer'> {
    return new Promise((resolve) => {
      this.#open.set(sequence, { response: responseOf(command), deadlineMs, resolve });
    });
  }

  /** Gives a response to its request. False when it answers none of these requests. */
  answer({ sequence, command }: PduHeader, status: number): boolean {
    const request = this.#open.get(sequence);
    if (request === undefined || (command !== request.response && command !== COMMAND.genericNack)) return false;
    this.#open.delete(sequence);
    request.resolve(status);
    return true;
  }

  /** Ends the requests whose deadline has passed. */
  age(nowMs: number): void {
    for (const [sequence, request] of this.#open) {
      if (nowMs < request.deadlineMs) continue;
      this.#open.delete(sequence);
      request.resolve('no_answer');
    }
  }

  /** Ends all requests, because the connection has ended and no answer can come. */
  lose(): void {
    for (const request of this.#open.values()) request.resolve('no_answer');
    this.#open.clear();
  }
}
