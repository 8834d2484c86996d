import { createServer, type Socket } from 'node:net';

/** This codec shares no line with the product's or the simulator's. */

const BIND = new Set([0x01, 0x02, 0x09]);
const SUBMIT = 0x04;
const UNBIND = 0x06;
const ENQUIRE_LINK = 0x15;
const RESPONSE = 0x80000000;

/** A PDU with its correct length. `body` is hexadecimal or a buffer. */
export function pdu(command: number, status: number, sequence: number, body: string | Buffer = ''): Buffer {
  const content = typeof body === 'string' ? Buffer.from(body.replaceAll(' ', ''), 'hex') : body;
  const frame = Buffer.alloc(16 + content.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(command >>> 0, 4);
  frame.writeUInt32BE(status >>> 0, 8);
  frame.writeUInt32BE(sequence >>> 0, 12);
  content.copy(frame, 16);
  return frame;
}

/** An empty deliver_sm but for esm_class and text; `tlvs` in hexadecimal. */
export function receiptPdu(sequence: number, text: string | Buffer, tlvs = ''): Buffer {
  const words = Buffer.isBuffer(text) ? text : Buffer.from(text, 'latin1');
  // service_type, source, destination, esm_class, and the eight one-octet fields before sm_length.
  const head = Buffer.from('00 000000 000000 04 0000000000000000'.replaceAll(' ', ''), 'hex');
  const length = Buffer.from([words.length]);
  const optional = Buffer.from(tlvs.replaceAll(' ', ''), 'hex');
  return pdu(0x05, 0, sequence, Buffer.concat([head, length, words, optional]));
}

export interface HostileScript {
  beforeBind?(): Buffer;
  /** Written together with the answer to the bind. */
  withBind?(): Buffer;
  /** Replaces a good submit_sm_resp; empty for none. */
  answer?(sequence: number): Buffer;
}

export interface HostileCarrier {
  readonly port: number;
  binds(): number;
  /** Command ids from the client on all connections, binds included. */
  heard(): readonly number[];
  /** On every open connection. */
  send(bytes: Buffer): void;
  hangUp(): void;
  /** Stops reading, so that the client's data piles up on its side. */
  setDeaf(deaf: boolean): void;
  close(): Promise<void>;
}

/** A carrier on 127.0.0.1 that answers binds, submits and enquire_link, and also sends whatever a test wants. */
export async function startHostileCarrier(script: HostileScript = {}): Promise<HostileCarrier> {
  const sockets = new Set<Socket>();
  const heard: number[] = [];
  let binds = 0;
  let ids = 0;
  const take = (socket: Socket, frame: Buffer): void => {
    const command = frame.readUInt32BE(4);
    const sequence = frame.readUInt32BE(12);
    heard.push(command);
    if (BIND.has(command)) {
      binds += 1;
      const answer = pdu(command | RESPONSE, 0, sequence, '00');
      socket.write(Buffer.concat([script.beforeBind?.() ?? NOTHING, answer, script.withBind?.() ?? NOTHING]));
    } else if (command === SUBMIT) {
      const id = Buffer.from(`evil${++ids}\0`);
      socket.write(script.answer?.(sequence) ?? pdu(SUBMIT | RESPONSE, 0, sequence, id));
    } else if (command === ENQUIRE_LINK || command === UNBIND) {
      socket.write(pdu(command | RESPONSE, 0, sequence));
    }
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest: Buffer = NOTHING;
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 16 && rest.length >= rest.readUInt32BE(0)) {
        const length = rest.readUInt32BE(0);
        take(socket, rest.subarray(0, length));
        rest = rest.subarray(length);
      }
    });
    socket.on('error', () => {}); // The client may cut it off while it sends.
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  return {
    port: address.port,
    binds: () => binds,
    heard: () => heard,
    send: (bytes) => {
      for (const socket of sockets) socket.write(bytes);
    },
    hangUp: () => {
      for (const socket of sockets) socket.end();
    },
    setDeaf: (deaf) => {
      for (const socket of sockets) {
        if (deaf) socket.pause();
        else socket.resume();
      }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const NOTHING = Buffer.alloc(0);
