import { connect, createServer, type Socket } from 'node:net';

/** A way to the store on which commands, or the answers to them, get lost. */
export interface LossyStore {
  /** For the clients that are to suffer it. */
  readonly uri: string;
  /** The store does the next such command, but its answer is lost and the connection cut. */
  loseAnswerTo(command: string, collection: string): void;
  /** Connections on which such a command comes are cut before the store knows of it; until `letAllPass`. */
  loseAll(command: string, collection: string): void;
  letAllPass(): void;
  /** How many were lost. */
  readonly lost: number;
  close(): Promise<void>;
}

export async function openLossyStore(storeUri: string): Promise<LossyStore> {
  const host = decodeURIComponent(/^mongodb:\/\/([^/?]+)/.exec(storeUri)?.[1] ?? '');
  const sockets = new Set<Socket>();
  let wanted: Buffer | undefined;
  let stopped: Buffer | undefined;
  let lost = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    const [name = '', port] = host.split(':');
    const store = keep(host.startsWith('/') ? connect(host) : connect(Number(port ?? 27_017), name));
    let losing = false;
    client.on('data', (piece) => {
      if (stopped !== undefined && piece.includes(stopped)) {
        lost += 1;
        client.destroy();
        return;
      }
      if (wanted !== undefined && piece.includes(wanted)) {
        wanted = undefined;
        losing = true;
      }
      store.write(piece);
    });
    store.on('data', (piece) => {
      if (!losing) client.write(piece);
      else {
        lost += 1;
        client.destroy();
      }
    });
    client.on('close', () => store.destroy());
    store.on('close', () => client.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  return {
    uri: `mongodb://127.0.0.1:${address.port}/?directConnection=true`,
    loseAnswerTo: (command, collection) => {
      wanted = beginning(command, collection);
    },
    loseAll: (command, collection) => {
      stopped = beginning(command, collection);
    },
    letAllPass: () => {
      stopped = undefined;
    },
    get lost() {
      return lost;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Of a command in BSON: `<command>: "<collection>"`. */
function beginning(command: string, collection: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32LE(collection.length + 1);
  return Buffer.concat([Buffer.from(`${command}\0`), length, Buffer.from(`${collection}\0`)]);
}
