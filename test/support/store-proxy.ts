import { connect, createServer, type Socket } from 'node:net';

/** `slow`: every piece of an answer comes late. `down`: nobody listens, so to speak: what is connected is cut off. */
export type StoreMood = 'well' | 'slow' | 'down';

export interface StoreProxy {
  /** For clients that are to feel what happens to the store. */
  readonly uri: string;
  become(mood: StoreMood): void;
  close(): Promise<void>;
}

/** Longer than `/readyz` waits, shorter than anybody's patience. */
const SLOW_MS = 2_000;

/** A TCP proxy of our own between processes and their store (a Unix socket or a host, as its URI says). */
export async function startStoreProxy(storeUri: string): Promise<StoreProxy> {
  const target = targetOf(storeUri);
  const sockets = new Set<Socket>();
  let mood: StoreMood = 'well';
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    return socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (mood === 'down') {
      client.resetAndDestroy();
      return;
    }
    const store = keep(connect(target));
    client.on('data', (piece) => store.write(piece));
    // Timers of one length run in the order in which they were set: pieces never overtake each other while the mood lasts.
    let last = Promise.resolve();
    store.on('data', (piece) => {
      const wait = mood === 'slow' ? new Promise((over) => setTimeout(over, SLOW_MS)) : undefined;
      last = last.then(() => wait).then(() => void (client.writable && client.write(piece)));
    });
    client.on('close', () => store.destroy());
    store.on('close', () => client.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  const cutOff = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    uri: `mongodb://127.0.0.1:${address.port}/?directConnection=true`,
    become: (next) => {
      mood = next;
      if (mood === 'down') cutOff();
    },
    close: async () => {
      cutOff();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function targetOf(uri: string): { path: string } | { host: string; port: number } {
  const [, place = ''] = /^mongodb:\/\/(?:[^@/]*@)?([^/,?]+)/.exec(uri) ?? [];
  if (place.includes('%2F')) return { path: decodeURIComponent(place) };
  const [host = '127.0.0.1', port = '27017'] = place.split(':');
  return { host, port: Number(port) };
}
