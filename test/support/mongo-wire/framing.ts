import { BSON, type Document } from 'mongodb';

/**
 * MongoDB's wire protocol, as far as a proxy must read it. Written for the tests alone: the embedded store has its own, and a
 * mistake in one must not hide a mistake in the other. Sources: mongodb/specifications, source/message/OP_MSG.md; manual, "MongoDB Wire
 * Protocol".
 *
 *     header: length, request id, id of the request that it answers, opcode; four int32, little-endian
 *     OP_MSG 2013: flags u32, sections in any order, a checksum of 4 bytes when bit 0 is set
 *       section of kind 0: one document; of kind 1: size, name and documents, which belong in the document under that name
 *     OP_QUERY 2004: flags, name of a collection, skip, count, document; only the first hello of a connection
 *     OP_REPLY 1: flags, cursor (8 bytes), from, count, documents; the answer to that
 */
export const OP_MSG = 2013;
export const OP_QUERY = 2004;
const OP_REPLY = 1;

const HEADER = 16;
const CHECKSUM_PRESENT = 1;
const MORE_TO_COME = 1 << 1;
const EXHAUST_ALLOWED = 1 << 16;

/** Cuts a stream into whole messages, whatever its pieces are. */
export class MessageCutter {
  #pieces: Buffer[] = [];
  #bytes = 0;

  cut(piece: Buffer): Buffer[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const messages: Buffer[] = [];
    while (this.#bytes >= 4) {
      const length = this.#joined(4).readInt32LE(0);
      if (length < HEADER) throw new Error(`a message of ${length} bytes is none`);
      if (this.#bytes < length) break;
      const whole = this.#joined(length);
      messages.push(whole.subarray(0, length));
      this.#pieces = [whole.subarray(length)];
      this.#bytes -= length;
    }
    return messages;
  }

  /** The first piece, or all pieces joined if the first is shorter. */
  #joined(bytes: number): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && first.length >= bytes) return first;
    const joined = Buffer.concat(this.#pieces);
    this.#pieces = [joined];
    return joined;
  }
}

export const requestIdOf = (message: Buffer): number => message.readInt32LE(4);
export const answersTo = (message: Buffer): number => message.readInt32LE(8);
const opcodeOf = (message: Buffer): number => message.readInt32LE(12);

export interface Command {
  readonly message: Buffer;
  /** `update`, `hello` … as it was sent. */
  readonly name: string;
  /** From a command's first field; undefined for commands on a server or a database. */
  readonly collection: string | undefined;
  /** False for a command that wants no answer (moreToCome). */
  readonly answered: boolean;
  /** Whether several answers may follow (exhaustAllowed). */
  readonly streams: boolean;
  /** The whole command, with documents from its sequences. Numbers and dates are JavaScript's. */
  body(): Document;
}

export function readCommand(message: Buffer): Command {
  const flags = opcodeOf(message) === OP_MSG ? message.readUInt32LE(HEADER) : 0;
  const [at] = documentsAt(message);
  if (at === undefined) throw new Error('a command has a document');
  const { name, value } = firstElement(message, at);
  return {
    message,
    name,
    collection: value,
    answered: (flags & MORE_TO_COME) === 0,
    streams: (flags & EXHAUST_ALLOWED) !== 0,
    body: () => ({ ...documentAt(message, at), ...sequencesOf(message) }),
  };
}

/** An answer's document, with its BSON types, so that it can be written again. */
export function readAnswer(message: Buffer): Document {
  const [at] = documentsAt(message);
  if (at === undefined) throw new Error('an answer has a document');
  const exact = { promoteValues: false, promoteBuffers: false, bsonRegExp: true };
  return BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)), exact);
}

let lastId = 0;

/** An answer in the form that its request needs. `more`: further answers follow, each an answer to the one before. */
export function answer(to: Buffer, document: Document, more = false): Buffer {
  lastId = (lastId + 1) % 0x7fff_ffff;
  const body = BSON.serialize(document, { ignoreUndefined: true });
  const query = opcodeOf(to) === OP_QUERY;
  const head = Buffer.alloc(query ? HEADER + 20 : HEADER + 5);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(lastId, 4);
  head.writeInt32LE(requestIdOf(to), 8);
  head.writeInt32LE(query ? OP_REPLY : OP_MSG, 12);
  if (query) head.writeInt32LE(1, HEADER + 16);
  else head.writeUInt32LE(more ? MORE_TO_COME : 0, HEADER);
  return Buffer.concat([head, body]);
}

/** The request with another document, without document sequences, asking for one answer only. */
export function rewritten({ message }: Command, document: Document): Buffer {
  if (opcodeOf(message) !== OP_MSG) throw new Error('only an OP_MSG is rewritten');
  const head = Buffer.from(message.subarray(0, HEADER + 5));
  const body = BSON.serialize(document, { ignoreUndefined: true });
  head.writeInt32LE(head.length + body.length, 0);
  head.writeUInt32LE((head.readUInt32LE(HEADER) & ~(CHECKSUM_PRESENT | EXHAUST_ALLOWED)) >>> 0, HEADER);
  head.writeUInt8(0, HEADER + 4);
  return Buffer.concat([head, body]);
}

function documentsAt(message: Buffer): number[] {
  const opcode = opcodeOf(message);
  if (opcode === OP_MSG) return sectionsOf(message).flatMap(({ kind, at }) => (kind === 0 ? [at] : []));
  if (opcode === OP_REPLY) return [HEADER + 20];
  if (opcode === OP_QUERY) return [message.indexOf(0, HEADER + 4) + 1 + 8];
  throw new Error(`opcode ${opcode}: compressed messages are never offered, others are out of use`);
}

interface Section {
  readonly kind: number;
  /** The offset after the byte with the kind. */
  readonly at: number;
  readonly end: number;
}

function sectionsOf(message: Buffer): Section[] {
  const flags = message.readUInt32LE(HEADER);
  const end = message.length - (flags & CHECKSUM_PRESENT ? 4 : 0);
  const sections: Section[] = [];
  for (let at = HEADER + 4; at < end; ) {
    const kind = message.readUInt8(at);
    if (kind > 1) throw new Error(`a section of kind ${kind}`);
    const section = { kind, at: at + 1, end: at + 1 + message.readInt32LE(at + 1) };
    sections.push(section);
    at = section.end;
  }
  return sections;
}

function sequencesOf(message: Buffer): Document {
  if (opcodeOf(message) !== OP_MSG) return {};
  const sequences = sectionsOf(message).filter(({ kind }) => kind === 1);
  return Object.fromEntries(
    sequences.map(({ at, end }) => {
      const nameEnd = message.indexOf(0, at + 4);
      const documents: Document[] = [];
      for (let next = nameEnd + 1; next < end; next += message.readInt32LE(next))
        documents.push(documentAt(message, next));
      return [message.toString('utf8', at + 4, nameEnd), documents];
    }),
  );
}

function documentAt(message: Buffer, at: number): Document {
  return BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)));
}

const STRING = 2;

/** Name and, if it is a string, value of the first field of the document at `at`. */
function firstElement(message: Buffer, at: number): { readonly name: string; readonly value: string | undefined } {
  const nameEnd = message.indexOf(0, at + 5);
  const name = message.toString('utf8', at + 5, nameEnd);
  if (message.readUInt8(at + 4) !== STRING) return { name, value: undefined };
  const bytes = message.readInt32LE(nameEnd + 1);
  return { name, value: message.toString('utf8', nameEnd + 5, nameEnd + 5 + bytes - 1) };
}
