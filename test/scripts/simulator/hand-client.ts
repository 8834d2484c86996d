import { connect, type Socket } from 'node:net';
import type { SmscOptions } from '../../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import { eventually } from '../../support/eventually.ts';

/** SMPP by hand, from hexadecimal, so that the simulator is not tested with its own writer. */

export function octets(...hex: string[]): Buffer {
  return Buffer.from(hex.join('').replaceAll(/\s/g, ''), 'hex');
}

export function ascii(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex');
}

export function cString(text: string): string {
  return `${ascii(text)}00`;
}

/** `hex` after its length as one octet. */
export function sized(hex: string): string {
  const bare = hex.replaceAll(/\s/g, '');
  return (bare.length / 2).toString(16).padStart(2, '0') + bare;
}

/** `command` and `status` as 8 hex digits, the body as hex. */
export function pdu(command: string, status: string, sequence: number, ...body: string[]): Buffer {
  const rest = octets(command, status, sequence.toString(16).padStart(8, '0'), ...body);
  return Buffer.concat([octets((rest.length + 4).toString(16).padStart(8, '0')), rest]);
}

export function bind(command: '00000001' | '00000002' | '00000009', systemId = 'acme', password = 'pw'): Buffer {
  return pdu(command, '00000000', 1, cString(systemId), cString(password), cString(''), '34 00 00', cString(''));
}

export const BIND_TRANSCEIVER = bind('00000009');

interface HandSubmit {
  readonly to?: string;
  readonly esmClass?: string;
  readonly registered?: string;
  readonly dataCoding?: string;
  readonly data?: string;
  readonly tlvs?: string;
}

/** submit_sm from ACMEIN with the text `hi` and a requested receipt, unless `fields` says otherwise. */
export function submit(sequence: number, fields: HandSubmit = {}): Buffer {
  const {
    to = '919876543000',
    esmClass = '00',
    registered = '01',
    dataCoding = '00',
    data = '6869',
    tlvs = '',
  } = fields;
  return pdu(
    '00000004',
    '00000000',
    sequence,
    ...[cString(''), '05 00', cString('ACMEIN'), '01 01', cString(to), esmClass, '00 00', cString(''), cString('')],
    ...[registered, '00', dataCoding, '00', sized(data), tlvs],
  );
}

/** `status` as 8 hex digits. */
export function deliverResponse(sequence: number, status = '00000000'): Buffer {
  return pdu('80000005', status, sequence, '00');
}

/** A connection that shows PDUs as bytes. */
export class HandClient {
  readonly frames: Buffer[] = [];
  ended = false;
  readonly #socket: Socket;
  #rest = Buffer.alloc(0);

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.ended = true;
    });
  }

  write(...frames: Buffer[]): void {
    this.#socket.write(Buffer.concat(frames));
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Received PDUs of a command_id (8 hex digits). */
  of(command: string): Buffer[] {
    return this.frames.filter((frame) => frame.toString('hex', 4, 8) === command);
  }

  async have(command: string, count: number): Promise<Buffer[]> {
    await eventually(() => this.of(command).length >= count, `${count} PDUs of ${command}`);
    return this.of(command);
  }

  async bound(request = BIND_TRANSCEIVER): Promise<this> {
    this.write(request);
    await eventually(() => this.frames.length > 0, 'an answer to the bind');
    return this;
  }

  /** Answers every past and future deliver_sm with success. */
  acknowledge(): this {
    this.#socket.on('data', () => this.#acknowledgeNew());
    this.#acknowledgeNew();
    return this;
  }

  #acknowledged = 0;

  #acknowledgeNew(): void {
    const deliveries = this.of('00000005');
    for (const delivery of deliveries.slice(this.#acknowledged)) this.write(deliverResponse(sequenceOf(delivery)));
    this.#acknowledged = deliveries.length;
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 4 && this.#rest.length >= this.#rest.readUInt32BE(0)) {
      const length = this.#rest.readUInt32BE(0);
      this.frames.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
    }
  }
}

export function statusOf(frame: Buffer | undefined): string {
  return frame?.toString('hex', 8, 12) ?? 'no frame';
}

export function sequenceOf(frame: Buffer): number {
  return frame.readUInt32BE(12);
}

/** For a `describe`: a new simulated SMSC for each test with clients by hand, all closed after it. */
export class SmscWorld {
  #smsc: Smsc | undefined;
  #clients: HandClient[] = [];

  constructor() {
    afterEach(async () => {
      for (const each of this.#clients) each.close();
      this.#clients = [];
      await this.#smsc?.close();
      this.#smsc = undefined;
    });
  }

  async start(options: Partial<SmscOptions> = {}): Promise<void> {
    this.#smsc = await startSmsc({ receiptDelayMs: 10, retryDelayMs: 20, ...options });
  }

  get smsc(): Smsc {
    if (this.#smsc === undefined) throw new Error('the SMSC was not started');
    return this.#smsc;
  }

  client(): HandClient {
    const made = new HandClient(this.smsc.port);
    this.#clients.push(made);
    return made;
  }
}
