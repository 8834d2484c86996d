import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/**
 * Ports that neither Linux (32768 and above) nor IANA's range (49152 and above) gives to who asks for any. A port of those ranges may
 * be anybody's by the time it is used: a connection's other end, or a client's that asks there too early and meets itself.
 */
const LOWEST = 10_000;
const ABOVE_HIGHEST = 32_000;
const TRIES_MAX = 1_000;

/**
 * A free TCP port of 127.0.0.1 that this process has for itself as long as it lives, among all that ask here: restarted gateways
 * must use the port that their clients know. The mark is the UDP port of that number, which nobody needs.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(LOWEST, ABOVE_HIGHEST);
    if ((await marks(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no free port among ${TRIES_MAX}`);
}

function marks(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => {
      socket.unref();
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
