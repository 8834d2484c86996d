import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { LimitedReading } from '../../../shared/platform/runtime/limited-reading.ts';

/** The most interim answers (1xx). Nothing that we send asks for any (RFC 9110 §15.2). */
const INTERIM_ANSWERS_MAX = 8;
/** The limits of connections that are kept for later requests. */
const READINGS = new WeakMap<Socket, LimitedReading>();

/**
 * Makes one request. Watches when its connection is made, because before that none of its bytes can have left. Limits
 * what comes back: the interim answers, and all bytes of the connection, head and chunk sizes included.
 */
export class Wire {
  connected = false;
  readonly #answerBytesMax: number;
  #interimAnswers = 0;
  #reading: LimitedReading | undefined;

  constructor(answerBytesMax: number) {
    this.#answerBytesMax = answerBytesMax;
  }

  /** Why we cut the connection off, if we did. */
  get cutOffFor(): string | undefined {
    if (this.#interimAnswers > INTERIM_ANSWERS_MAX) return 'too_many_interim_answers';
    return this.#reading?.tooLong === true ? 'answer_too_long' : undefined;
  }

  request(
    options: object & { readonly protocol?: string },
    onResponse: (response: IncomingMessage) => void,
  ): ClientRequest {
    const secure = options.protocol === 'https:';
    const request = (secure ? httpsRequest : httpRequest)(options, onResponse);
    request.on('socket', (socket: Socket) => {
      this.#limit(socket);
      const connect = (): void => {
        this.connected = true;
      };
      // The connection was kept, or its state is uncertain, so bytes of the request may leave at once. On a new connection, TLS
      // holds the request back until the handshake is done.
      if (!socket.connecting) connect();
      else socket.once(secure ? 'secureConnect' : 'connect', connect);
    });
    request.on('information', () => {
      if (++this.#interimAnswers > INTERIM_ANSWERS_MAX) request.destroy();
    });
    return request;
  }

  #limit(socket: Socket): void {
    this.#reading = READINGS.get(socket) ?? new LimitedReading(socket, this.#answerBytesMax);
    this.#reading.bytesMax = this.#answerBytesMax;
    READINGS.set(socket, this.#reading);
  }
}
