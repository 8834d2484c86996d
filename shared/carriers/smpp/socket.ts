import { createConnection, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, TLSSocket } from 'node:tls';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import { TRUST, type TrustSettings } from '../settings/links.ts';
import { withDefaults } from '../settings/setting.ts';
import { HEADER_OCTETS, MAX_PDU_OCTETS } from './pdu.ts';

export interface SocketOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined for a connection without TLS. */
  readonly tls: Partial<TrustSettings> | undefined;
  /** Asked before each write. While false, answers wait; a submit_sm ends the connection, surely unwritten. */
  mayWrite(): boolean;
  /** The frame is a view of the read buffer. To keep it, copy it. */
  onFrame(frame: Buffer): void;
  /** Called once. `unwritten`: sequence numbers of frames that were certainly never written. */
  onClose(reason: string, unwritten: ReadonlySet<number>): void;
}

/** SMPP 3.4 §5.1.2.1. */
const SUBMIT_SM = 0x4;
/** TCP connect and TLS handshake together. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Time for the rest of a frame after its first octet. */
const FRAME_TIMEOUT_MS = 10_000;
/** Time for the peer to close its side after our FIN. */
const END_TIMEOUT_MS = 2_000;
/** A read of this size means that more may be waiting. TLS reads 16 KiB at a time, TCP 64 KiB. */
const FULL_READ_OCTETS = 16_384;
/** While writing is not allowed: how often to ask again, and how many answers may wait. */
const WITHHELD_MS = 100;
const WITHHELD_MAX = 10_000;
/** Beyond this the connection is cut off, to save memory. A window of long messages is far smaller. */
const MAX_UNREAD_OCTETS = 4 * 1024 * 1024;

/**
 * One TCP or TLS connection to a carrier, cut into frames by command_length (SMPP 3.4 §3.2). Everything sent in one
 * turn of the event loop leaves in one write, because Nagle's algorithm is off: it would delay a PDU by up to 40 ms.
 */
export class SmppSocket {
  readonly #options: SocketOptions;
  readonly #socket: Socket;
  #opened = false;
  #closeReason = 'closed_by_peer';
  #rest: Buffer[] = [];
  #restOctets = 0;
  #frameTimer: NodeJS.Timeout | undefined;
  #unsent: { readonly frame: Buffer; readonly sequence: number }[] = [];
  #flushing = false;
  #endTimer: NodeJS.Timeout | undefined;
  #withheldTimer: NodeJS.Timeout | undefined;
  #paused = false;
  #pausedForTurn = false;

  /** Connects at once. Calls `onOpen` when frames may be sent. */
  constructor(options: SocketOptions, onOpen: () => void) {
    this.#options = options;
    const { host, port, tls } = options;
    budget.opened();
    this.#socket =
      tls === undefined ? createConnection({ host, port }) : connectTls({ host, port, ...tlsOptions(host, tls) });
    this.#socket.setNoDelay(true);
    const timer = setTimeout(() => {
      this.destroy(this.#socket.connecting ? 'connect_timeout' : 'tls_timeout');
    }, CONNECT_TIMEOUT_MS);
    this.#socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      clearTimeout(timer);
      this.#opened = true;
      onOpen();
    });
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket.on('error', (error) => {
      this.#closeReason = 'code' in error ? String(error.code) : error.message;
    });
    this.#socket.once('close', () => {
      budget.closed();
      clearTimeout(timer);
      clearTimeout(this.#frameTimer);
      clearTimeout(this.#endTimer);
      clearTimeout(this.#withheldTimer);
      const unwritten = new Set(this.#unsent.map((sent) => sent.sequence));
      this.#unsent = [];
      this.#rest = [];
      this.#restOctets = 0;
      options.onClose(this.#closeReason, unwritten);
    });
  }

  get open(): boolean {
    return this.#opened && !this.#socket.destroyed && this.#socket.writable;
  }

  get certificateUntil(): Date | undefined {
    if (!this.open || !(this.#socket instanceof TLSSocket)) return undefined;
    const { valid_to: until } = this.#socket.getPeerCertificate();
    return until === undefined ? undefined : new Date(until);
  }

  /** Whether frames wait because the peer does not read fast enough. */
  get congested(): boolean {
    return this.#socket.writableNeedDrain;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Writes at the end of this turn of the event loop. */
  send(frame: Buffer, sequence: number): void {
    if (!this.open) return;
    this.#unsent.push({ frame, sequence });
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.#flush());
  }

  /** While paused, input waits in the kernel, and we do not notice that the peer has closed the connection. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    if (paused) this.#socket.pause();
    else if (!this.#pausedForTurn) this.#socket.resume();
    this.#waitForRest(false);
  }

  /** Writes what is left and ends our side; closes with the peer's side, or after `END_TIMEOUT_MS`. */
  end(): void {
    this.#flush();
    this.#closeReason = 'ended';
    this.#socket.end();
    this.#endTimer ??= setTimeout(() => this.destroy('ended'), END_TIMEOUT_MS);
  }

  destroy(reason: string): void {
    if (this.#socket.destroyed) return;
    this.#closeReason = reason;
    this.#socket.destroy();
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#unsent.length === 0 || !this.open) return;
    if (!this.#options.mayWrite()) {
      this.#withhold();
      return;
    }
    const frames = this.#unsent;
    this.#unsent = [];
    const [first] = frames;
    const bytes = frames.length === 1 && first !== undefined ? first.frame : Buffer.concat(frames.map((f) => f.frame));
    this.#socket.write(bytes);
    if (bytes.readUInt32BE(4) === SUBMIT_SM) crashPoint('submit:written');
    if (this.#socket.writableLength > MAX_UNREAD_OCTETS) this.destroy('peer_does_not_read');
  }

  #withhold(): void {
    const submits = this.#unsent.some(({ frame }) => frame.readUInt32BE(4) === SUBMIT_SM);
    if (submits || this.#unsent.length > WITHHELD_MAX) {
      this.destroy('not_allowed_to_write');
      return;
    }
    this.#flushing = true;
    this.#withheldTimer = setTimeout(() => this.#flush(), WITHHELD_MS);
  }

  #read(chunk: Buffer): void {
    this.#rest.push(chunk);
    this.#restOctets += chunk.length;
    // Joined only when a whole frame is here, so that a peer that sends tiny pieces causes no copies.
    if (this.#restOctets < 4 || this.#restOctets < this.#wanted()) {
      this.#waitForRest(false);
      return;
    }
    this.#cut();
    // Up to 31 other reads may follow in this turn. Other connections should get their turn first.
    if (chunk.length >= FULL_READ_OCTETS) this.#pauseForTurn();
  }

  /** Hands on whole frames, up to the budget of this turn. */
  #cut(): void {
    const [first] = this.#rest;
    let data = first !== undefined && this.#rest.length === 1 ? first : Buffer.concat(this.#rest);
    let whole = 0;
    const most = budget.frames;
    this.#rest = [];
    this.#restOctets = 0;
    while (data.length >= 4) {
      const length = data.readUInt32BE(0);
      if (length < HEADER_OCTETS || length > MAX_PDU_OCTETS) {
        this.destroy('bad_frame');
        return;
      }
      if (data.length < length) break;
      if (whole === most || budget.spent) {
        this.#pauseForTurn();
        break;
      }
      budget.spend(length);
      this.#options.onFrame(data.subarray(0, length));
      if (this.#socket.destroyed) return;
      whole += 1;
      data = data.subarray(length);
    }
    if (data.length > 0) {
      this.#rest = [data];
      this.#restOctets = data.length;
    }
    this.#waitForRest(whole > 0);
  }

  /** Stops reading until the next turn of the event loop, which first hands on the frames that were read already. */
  #pauseForTurn(): void {
    if (this.#pausedForTurn) return;
    this.#pausedForTurn = true;
    this.#socket.pause();
    setImmediate(() => {
      this.#pausedForTurn = false;
      if (this.#socket.destroyed) return;
      if (this.#restOctets > 0) this.#cut();
      if (!this.#paused && !this.#pausedForTurn) this.#socket.resume();
    });
  }

  /** Length of the frame that has begun. 0 if unknown yet, or too large; `#cut` then decides. */
  #wanted(): number {
    const [first] = this.#rest;
    if (first === undefined || first.length < 4) return 0;
    const length = first.readUInt32BE(0);
    return length > MAX_PDU_OCTETS ? 0 : length;
  }

  /**
   * Limits the time until the frame is whole, from its first octets: later pieces do not restart the timer. Pausing
   * ends it, because the rest may wait in the kernel; resuming starts it anew.
   */
  #waitForRest(begun: boolean): void {
    if (begun || this.#paused || this.#restOctets === 0) {
      clearTimeout(this.#frameTimer);
      this.#frameTimer = undefined;
    }
    if (this.#restOctets > 0 && !this.#paused) {
      this.#frameTimer ??= setTimeout(() => this.destroy('frame_timeout'), FRAME_TIMEOUT_MS);
    }
  }
}

/** Most frames per connection and event-loop turn: as receipts some 10 ms. Fewer with many connections. */
const FRAMES = 256;
const FRAMES_ALL = 512;
const FRAMES_LEAST = 16;
/** Most octets in one turn, over all connections; the frame that reaches it is the last. 64 KiB can take 7 ms. */
const OCTETS_ALL = 49_152;

/** Limits what all connections hand on in one turn of the event loop, so that other work gets its turn too. */
class FrameBudget {
  #connections = 0;
  #octets = 0;

  opened(): void {
    this.#connections += 1;
  }

  closed(): void {
    this.#connections -= 1;
  }

  get frames(): number {
    return Math.max(FRAMES_LEAST, Math.min(FRAMES, Math.floor(FRAMES_ALL / this.#connections)));
  }

  get spent(): boolean {
    return this.#octets >= OCTETS_ALL;
  }

  spend(octets: number): void {
    if (this.#octets === 0) {
      setImmediate(() => {
        this.#octets = 0;
      });
    }
    this.#octets += octets;
  }
}

const budget = new FrameBudget();

/** A trusted authority must sign the certificate; the settings may only turn off the check of the host name. */
export function tlsOptions(host: string, stored: Partial<TrustSettings> = {}): ConnectionOptions {
  const { tlsCa, tlsCertificate, tlsKey, tlsHostName } = withDefaults(TRUST, stored);
  return {
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(tlsCa === '' ? {} : { ca: tlsCa }),
    ...(tlsCertificate === '' ? {} : { cert: tlsCertificate, key: tlsKey }),
    ...(tlsHostName === 'unchecked' ? { checkServerIdentity: () => undefined } : {}),
  };
}
