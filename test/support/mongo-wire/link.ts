import { connect, createServer, type Socket } from 'node:net';
import { answer, answersTo, type Command, MessageCutter, readAnswer, readCommand, requestIdOf } from './framing.ts';

/** A driver's connection, and the one to the server behind it. */
export interface Link {
  /** Sends a command, changed or not, to the server. Resolves with the answer, or never if the connection is cut. */
  ask(message: Buffer): Promise<Buffer>;
  /** Sends an answer to the driver. */
  tell(message: Buffer): void;
  /** Ends the connection without a word. */
  cut(): void;
  /** Whether the driver's connection is open. */
  readonly open: boolean;
  readonly ended: Promise<void>;
}

/** Handles one command. The connection's next command waits for it. */
export type Handler = (command: Command, link: Link) => Promise<void>;

export interface Listener {
  readonly host: string;
  cutAll(): void;
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly storeUri: string;
  readonly handle: Handler;
  /** While false, new connections are reset at once, as if nobody listened. */
  accepts(): boolean;
}

/** Listens for drivers, with one connection to the server for each of theirs. */
export async function listen({ storeUri, handle, accepts }: ListenOptions): Promise<Listener> {
  const target = targetOf(storeUri);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    if (accepts()) join(keep(client), keep(connect(target)), handle);
    else keep(client).resetAndDestroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: `127.0.0.1:${address.port}`,
    cutAll,
    close: async () => {
      cutAll();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function join(client: Socket, store: Socket, handle: Handler): void {
  const asked = new Map<number, (message: Buffer) => void>();
  const ended = new Promise<void>((resolve) => client.once('close', () => resolve()));
  const link: Link = {
    ask: (message) =>
      new Promise((resolve) => {
        asked.set(requestIdOf(message), resolve);
        store.write(message);
      }),
    tell: (message) => void (client.writable && client.write(message)),
    cut: () => client.destroy(),
    get open() {
      return !client.destroyed;
    },
    ended,
  };
  const [commands, answers] = [new MessageCutter(), new MessageCutter()];
  let last = Promise.resolve();
  client.on('data', (piece) => {
    for (const message of commands.cut(piece)) {
      const command = readCommand(message);
      if (!command.answered) store.write(message);
      else last = last.then(() => handle(command, link));
    }
  });
  store.on('data', (piece) => {
    for (const message of answers.cut(piece)) {
      asked.get(answersTo(message))?.(message);
      asked.delete(answersTo(message));
    }
  });
  client.on('close', () => store.destroy());
  store.on('close', () => client.destroy());
}

function targetOf(uri: string): { path: string } | { host: string; port: number } {
  const [, place = ''] = /^mongodb:\/\/(?:[^@/]*@)?([^/,?]+)/.exec(uri) ?? [];
  if (place.includes('%2F')) return { path: decodeURIComponent(place) };
  const [host = '127.0.0.1', port = '27017'] = place.split(':');
  return { host, port: Number(port) };
}

const HELLOS = new Set(['hello', 'ismaster', 'isMaster']);

export const isHello = ({ name }: Command): boolean => HELLOS.has(name);

/** A hello's answer without compression and without streaming, which would hide the rest from a proxy. */
export async function plainHello(command: Command, link: Link): Promise<Buffer> {
  const { compression: _, topologyVersion: __, ...hello } = readAnswer(await link.ask(command.message));
  return answer(command.message, hello);
}
