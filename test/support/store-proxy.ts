import { connect, createServer, type Socket } from 'node:net';
import { BSON } from 'mongodb';

/**
 * `slow`: every piece of an answer comes late. `down`: nobody listens, so to speak: what is connected is cut off. `silent`:
 * connections are accepted and stay, and nothing is ever answered, as behind a firewall that drops everything; what was sent or
 * answered then is lost, and those connections stay dead. `readonly`: what writes is refused, as by a server that is no primary
 * any more.
 */
export type StoreMood = 'well' | 'slow' | 'down' | 'silent' | 'readonly';

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
    let dead = false;
    const hears = (): boolean => {
      dead ||= mood === 'silent';
      return !dead;
    };
    const messages = new MessageCutter();
    client.on('data', (piece) => {
      if (!hears()) return;
      for (const message of messages.cut(piece)) {
        if (mood === 'readonly' && isWrite(message)) client.write(notPrimary(message));
        else store.write(message);
      }
    });
    // Timers of one length run in the order in which they were set: pieces never overtake each other while the mood lasts.
    let last = Promise.resolve();
    store.on('data', (piece) => {
      const wait = mood === 'slow' ? new Promise((over) => setTimeout(over, SLOW_MS)) : undefined;
      last = last.then(() => wait).then(() => void (hears() && client.writable && client.write(piece)));
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

/** Cuts what a driver sends into whole messages. */
class MessageCutter {
  #rest: Buffer = Buffer.alloc(0);

  cut(piece: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, piece]);
    const messages: Buffer[] = [];
    while (this.#rest.length >= 4 && this.#rest.length >= this.#rest.readInt32LE(0)) {
      const length = this.#rest.readInt32LE(0);
      messages.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
    }
    return messages;
  }
}

const OP_MSG = 2013;
/** Of an OP_MSG: header, flags, kind of the first section; the command is that section. */
const COMMAND_AT = 21;
const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify']);

function isWrite(message: Buffer): boolean {
  if (message.readInt32LE(12) !== OP_MSG) return false;
  const length = message.readInt32LE(COMMAND_AT);
  const [name = ''] = Object.keys(BSON.deserialize(message.subarray(COMMAND_AT, COMMAND_AT + length)));
  return WRITES.has(name);
}

function notPrimary(message: Buffer): Buffer {
  const body = BSON.serialize({ ok: 0, errmsg: 'not primary', code: 10_107, codeName: 'NotWritablePrimary' });
  const head = Buffer.alloc(COMMAND_AT);
  head.writeInt32LE(COMMAND_AT + body.length, 0);
  head.writeInt32LE(message.readInt32LE(4), 8);
  head.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([head, body]);
}
