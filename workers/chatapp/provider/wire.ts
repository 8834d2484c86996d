import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { LimitedReading } from '../../../shared/runtime/limited-reading.ts';

/** Answers with 1xx before the one that counts. Nothing that we send asks for any (RFC 9110 §15.2). */
const INTERIM_ANSWERS_MAX = 8;
/** Of connections that are kept for the next request. */
const READINGS = new WeakMap<Socket, LimitedReading>();

/**
 * Makes one request, watches when its connection stands (before that not a byte of it can have left), and limits what comes
 * back: its interim answers, and its bytes as they come over the connection, head and sizes of chunks included.
 */
export class Wire {
  connected = false;
  readonly #answerBytesMax: number;
  #interimAnswers = 0;
  #reading: LimitedReading | undefined;

  constructor(answerBytesMax: number) {
    this.#answerBytesMax = answerBytesMax;
  }

  /** Why the connection was cut off from here, if it was. */
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
      // A kept connection, or one of which it is not sure. On a new one, TLS holds the request back until its handshake is done.
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
