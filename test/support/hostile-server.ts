import { createServer, type Server, type Socket } from 'node:net';

/** A TCP server on 127.0.0.1 that answers a connection's first bytes as the test says, in HTTP or not. */
export interface HostileServer {
  readonly url: string;
  readonly port: number;
  /** Connections that sent something, were answered, and have closed. */
  readonly closed: readonly Socket[];
  close(): Promise<void>;
}

export async function openHostileServer(answer: (socket: Socket) => void): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  const closed: Socket[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // The tested clients cut the connection off.
    socket.once('data', () => {
      socket.on('close', () => closed.push(socket));
      answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    closed,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/**
 * Writes `head`, then `unit` until the connection is gone, about a kilobyte in each turn of the event loop: so little
 * waits in the system's buffers that not much more is written than read.
 */
export function flood(socket: Socket, head: string, unit: string): void {
  const piece = unit.repeat(Math.ceil(1_024 / unit.length));
  const next = (): void => {
    if (!socket.destroyed) socket.write(piece, () => setImmediate(next));
  };
  socket.write(head, next);
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('a TCP server that listens has a port');
  return address.port;
}
