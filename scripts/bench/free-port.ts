import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/**
 * Ports are chosen from `LOWEST` up to `ABOVE_HIGHEST`, outside the ranges from which a system gives a port to whoever asks for
 * any: 32768 and above on Linux, 49152 and above by IANA. A port of those ranges may be taken by the time it is used. It may be
 * the other end of some connection, or even that of a client of ours: a client that connects before the server listens can get
 * the same port for its own end, and is then connected to itself.
 */
const LOWEST = 10_000;
const ABOVE_HIGHEST = 32_000;
const TRIES_MAX = 1_000;

/**
 * A free TCP port of 127.0.0.1. As long as this process lives, no other caller of this function gets it, in any process: a
 * restarted gateway must listen on the port that its clients know. As a mark the process holds the UDP port of the same number,
 * which nobody needs.
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
