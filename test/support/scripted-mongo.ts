import { createServer, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/** A server with MongoDB's protocol that answers as a test says. It stores nothing. */
export interface ScriptedMongo {
  readonly uri: string;
  /** Received commands with their `$db`, without `hello` and the driver's own. */
  readonly commands: readonly Document[];
  close(): Promise<void>;
}

/** `silent`: no answer ever comes. */
export type ScriptedAnswer = Document | 'silent' | undefined;

const OP_REPLY = 1;
const OP_QUERY = 2_004;
const OP_MSG = 2_013;
const HEADER = 16;
const DRIVERS_OWN = new Set(['hello', 'ismaster', 'isMaster', 'endSessions']);

/** The hello of a standalone server of MongoDB 7. */
const HELLO = { isWritablePrimary: true, maxWireVersion: 21, minWireVersion: 0, ok: 1 };
const LIMITS = { maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 };

/**
 * `hello` extends a standalone server's hello. `answer` decides all other answers; by default `{ok: 1}`. Framing as in
 * MongoDB's specifications, source/message/OP_MSG.md, without our own codec.
 */
export async function openScriptedMongo({
  hello = () => ({}),
  answer = () => undefined,
}: {
  readonly hello?: () => Document;
  readonly answer?: (command: Document) => ScriptedAnswer;
}): Promise<ScriptedMongo> {
  const sockets = new Set<Socket>();
  const commands: Document[] = [];
  const answerTo = (command: Document): Document | 'silent' => {
    const [name = ''] = Object.keys(command);
    if (name === 'endSessions') return { ok: 1 };
    if (DRIVERS_OWN.has(name)) return { ...HELLO, ...LIMITS, localTime: new Date(), ...hello() };
    commands.push(command);
    const told = answer(command) ?? {};
    return told === 'silent' ? told : { ok: 1, ...told };
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (piece) => {
      rest = Buffer.concat([rest, piece]);
      while (rest.length >= HEADER && rest.length >= rest.readInt32LE(0)) {
        const message = rest.subarray(0, rest.readInt32LE(0));
        rest = rest.subarray(message.length);
        const reply = answerTo(commandOf(message));
        if (reply !== 'silent') socket.write(framed(message, reply));
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  return {
    uri: `mongodb://127.0.0.1:${address.port}/`,
    commands,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function commandOf(message: Buffer): Document {
  if (message.readInt32LE(12) === OP_QUERY) {
    const name = message.indexOf(0, HEADER + 4);
    return BSON.deserialize(message.subarray(name + 9));
  }
  const command: Document = {};
  for (let at = HEADER + 4; at < message.length; ) {
    const kind = message[at];
    const size = message.readInt32LE(at + 1);
    const section = message.subarray(at + 1, at + 1 + size);
    // The body comes first from the driver, so the command's name stays the first field.
    if (kind === 0) Object.assign(command, BSON.deserialize(section));
    else Object.assign(command, sequenceOf(section));
    at += 1 + size;
  }
  return command;
}

function sequenceOf(section: Buffer): Document {
  const end = section.indexOf(0, 4);
  const documents: Document[] = [];
  for (let at = end + 1; at < section.length; at += section.readInt32LE(at)) {
    documents.push(BSON.deserialize(section.subarray(at, at + section.readInt32LE(at))));
  }
  return { [section.toString('utf8', 4, end)]: documents };
}

function framed(request: Buffer, reply: Document): Buffer {
  const document = BSON.serialize(reply);
  const asked = request.readInt32LE(12) === OP_QUERY;
  // OP_REPLY: flags, cursor id, starting from, one document. OP_MSG: flags, one section of kind 0.
  const head = Buffer.alloc(HEADER + (asked ? 20 : 5));
  if (asked) head.writeInt32LE(1, HEADER + 16);
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(request.readInt32LE(4), 8);
  head.writeInt32LE(asked ? OP_REPLY : OP_MSG, 12);
  return Buffer.concat([head, document]);
}
