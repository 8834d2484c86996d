import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { HttpClient } from '../../../shared/carriers/http/client.ts';
import { type Connected, tryConnection } from '../../../shared/carriers/http/connection.ts';
import { tlsOptions } from '../../../shared/carriers/smpp/socket.ts';
import type { Wire, WireEvents, WireSession } from '../session/wire.ts';
import type { Frame } from '../submit/submission.ts';
import { httpAnswers } from './answer.ts';

/** An answer has some hundred bytes, but a proxy's error page can be long. */
const ANSWER_BYTES_MAX = 65_536;

/** Requests over HTTPS behind the port of sessions: one session for each bind, with at most `windowSize` requests in flight. */
export function httpWire<Context extends Frame>(carrier: CarrierDocument): Wire<Context> {
  return { sessions: 1, turns: 1, open: (_, _turn, events) => new HttpSession<Context>(carrier, events) };
}

/**
 * A session is usable when a connection could be made, which sends nothing. It ends when a request finds no connection any more, or when
 * its owner ends it: an address that does not answer is then tried again with growing pauses, as a host of SMPP is. What is in flight is
 * awaited first, so that no answer is lost that still comes.
 */
class HttpSession<Context extends Frame> implements WireSession<Context> {
  readonly congested = false;
  certificateUntil: Date | undefined;
  readonly #client: HttpClient;
  readonly #events: WireEvents<Context>;
  readonly #read: ReturnType<typeof httpAnswers>;
  readonly #cancel: () => void;
  readonly #inFlight = new Set<Context>();
  readonly #unwritten: Context[] = [];
  #state: 'connecting' | 'open' | 'ending' | 'closed' = 'connecting';
  #reason = 'ended';

  constructor(carrier: CarrierDocument, events: WireEvents<Context>) {
    this.#events = events;
    this.#read = httpAnswers(carrier.http);
    const { host, tls, trust, windowSize, responseTimeoutMs: timeoutMs } = carrier;
    this.#client = new HttpClient({
      ...{ sockets: windowSize, idleSockets: windowSize, timeoutMs },
      ...(tls ? { tls: tlsOptions(host, trust) } : {}),
    });
    this.#cancel = tryConnection(carrier, (connected) => this.#tried(connected));
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  #tried(connected: Connected): void {
    if (this.#state !== 'connecting') return;
    if ('code' in connected) {
      this.destroy(connected.code);
      return;
    }
    this.certificateUntil = connected.certificateUntil;
    this.#state = 'open';
    this.#events.onOpen();
  }

  async bind(): Promise<number> {
    return 0;
  }

  submit(context: Context): void {
    this.#inFlight.add(context);
    void this.#request(context);
  }

  async #request(context: Context): Promise<void> {
    const { target, frame } = context;
    if (target === undefined) throw new TypeError('a request has a target');
    const exchange = await this.#client.exchange({
      ...target,
      ...(target.method === 'POST' ? { body: frame } : {}),
      answerBytesMax: ANSWER_BYTES_MAX,
    });
    // After the end, the owner has been told that its answer is lost.
    if (!this.#inFlight.delete(context)) return;
    if (exchange.kind === 'not_sent') {
      this.#unwritten.push(context);
      this.#end(exchange.code);
    } else {
      const answer = exchange.kind === 'answered' ? this.#read(exchange) : undefined;
      if (answer === undefined) this.#events.onTimeout(context);
      else this.#events.onAnswer(context, answer);
    }
    this.#closeIfDone();
  }

  async unbind(): Promise<void> {}

  /** Receipts come in at the gateway. */
  pauseReading(): void {}

  end(): void {
    this.#end('ended');
  }

  /** Cuts off what is in flight: nobody knows then whether the carrier took it. */
  destroy(reason: string): void {
    if (this.#state === 'closed') return;
    this.#end(reason);
    this.#close();
  }

  #end(reason: string): void {
    if (this.#state === 'ending' || this.#state === 'closed') return;
    this.#state = 'ending';
    this.#reason = reason;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#state === 'ending' && this.#inFlight.size === 0) this.#close();
  }

  #close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const unanswered = [...this.#inFlight];
    this.#inFlight.clear();
    this.#cancel();
    this.#client.close();
    // Not in this turn: whoever ends it is not done yet.
    setImmediate(() => this.#events.onClose(this.#reason, { unanswered, unwritten: this.#unwritten }));
  }
}
