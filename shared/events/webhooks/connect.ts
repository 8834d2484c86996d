import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Agent, buildConnector, Pool } from 'undici';
import { LimitedReading } from '../../platform/runtime/limited-reading.ts';
import { type AddressGuard, literalAddress, portOf, RefusedAddress } from './address-guard.ts';

export interface GuardedGet {
  readonly guard: AddressGuard;
  /** Limit of the body. Head and chunk sizes have limits of their own. */
  readonly bytesMax: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface Opened {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Fails when the connection breaks, the length is wrong, there are too many bytes or the signal aborts. */
  readonly body: Readable;
  /** Closes the connection, also if the body was not read to its end. */
  close(): Promise<void>;
}

const HEAD_BYTES_MAX = 16_384;
/** All bytes of the connection are counted, chunk sizes too. */
const FRAMING_BYTES_MAX = 262_144;
const CONNECT_MS = 10_000;

/**
 * Begins to read from an address that others gave: a connection of its own to an address that the guard has just
 * checked, no redirects, no proxy of the environment, no decompression. The caller has checked the url's form, and
 * limits the time by the signal. Rejects when no head comes.
 */
export async function openGet(url: string, { guard, bytesMax, headers, signal }: GuardedGet): Promise<Opened> {
  const answerBytesMax = bytesMax + HEAD_BYTES_MAX + FRAMING_BYTES_MAX;
  const agent = guardedAgent(
    { guard, timeoutMs: CONNECT_MS, answerBytesMax },
    { maxHeaderSize: HEAD_BYTES_MAX, headersTimeout: 0, bodyTimeout: 0 },
  );
  try {
    const { origin, pathname, search } = new URL(url);
    const answer = await agent.request({
      ...{ origin, path: pathname + search, method: 'GET' },
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Harkara', ...headers },
      signal,
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.body, close: () => agent.destroy() };
  } catch (error) {
    await agent.destroy();
    throw error;
  }
}

export interface ConnectorOptions {
  readonly guard: AddressGuard;
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
}

/** Each connection is made by the connector of its port. */
export function guardedAgent(connector: ConnectorOptions, options: Agent.Options): Agent {
  return new Agent({
    ...options,
    factory: (origin, given) =>
      new Pool(origin, { ...given, connect: guardedConnector(connector, portOf(new URL(origin))) }),
  });
}

/** Names are checked at the look-up, literal addresses before the socket is made. Limits what is received. */
function guardedConnector(
  { guard, timeoutMs, answerBytesMax }: ConnectorOptions,
  port: number,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: (hostname, options, callback) => {
      guard.addressesOf(hostname, port).then(
        (addresses) => {
          const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
          const [first] = found;
          if (first === undefined) callback(new Error('the name has no address'), '', 0);
          else if (options.all === true) callback(null, found);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      );
    },
  });
  return (options, callback) => {
    const literal = literalAddress(options.hostname);
    if (literal !== undefined && !guard.allows(literal, port)) {
      callback(new RefusedAddress(`${literal} is not a public address`), null);
      return;
    }
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null) new LimitedReading(socket, answerBytesMax);
      callback(...result);
    });
  };
}
