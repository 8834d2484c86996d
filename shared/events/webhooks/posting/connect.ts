import { Agent, buildConnector, Pool } from 'undici';
import { LimitedReading } from '../../../platform/runtime/limited-reading.ts';
import { type AddressGuard, literalAddress, portOf, RefusedAddress } from '../address-guard.ts';

export interface ConnectorOptions {
  readonly guard: AddressGuard;
  readonly timeoutMs: number;
  /** Limit of one answer, counting all bytes that come over the connection. */
  readonly answerBytesMax: number;
}

/** Connections to any origin, each made by the connector of its port. */
export function guardedAgent(connector: ConnectorOptions, options: Agent.Options): Agent {
  return new Agent({
    ...options,
    factory: (origin, given) =>
      new Pool(origin, { ...given, connect: guardedConnector(connector, portOf(new URL(origin))) }),
  });
}

/**
 * Connects only to addresses that the guard has just checked. Names are checked by its look-up, literal addresses
 * before the socket is made. Limits what is received.
 */
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
