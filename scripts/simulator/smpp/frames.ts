import { HEADER_OCTETS } from './commands.ts';

/**
 * Cuts a TCP stream into PDUs by their command_length (SMPP 3.4 §3.2), however the stream was split on its way. Pieces of an
 * unfinished PDU are kept and joined once. So a large PDU in tiny pieces costs no more than its size.
 */
export class FrameReader {
  readonly #maxOctets: number;
  #held: Buffer[] = [];
  #heldOctets = 0;
  #neededOctets = 4;
  #brokenBy: number | undefined;

  constructor(maxOctets: number) {
    this.#maxOctets = maxOctets;
  }

  /**
   * Calls `take` with every PDU that `chunk` completes, in order. If a command_length cannot be right (below 16 or above the
   * limit), the stream cannot be read any further. Then this call and all later ones return that command_length.
   */
  read(chunk: Buffer, take: (frame: Buffer) => void): number | undefined {
    if (this.#brokenBy !== undefined) return this.#brokenBy;

    let data = chunk;
    if (this.#heldOctets > 0) {
      this.#held.push(chunk);
      this.#heldOctets += chunk.length;
      if (this.#heldOctets < this.#neededOctets) return undefined;
      data = Buffer.concat(this.#held, this.#heldOctets);
    }

    let at = 0;
    this.#neededOctets = 4;
    while (data.length - at >= 4) {
      const length = data.readUInt32BE(at);
      if (length < HEADER_OCTETS || length > this.#maxOctets) {
        this.#hold(data, data.length);
        this.#brokenBy = length;
        return length;
      }
      if (data.length - at < length) {
        this.#neededOctets = length;
        break;
      }
      take(data.subarray(at, at + length));
      at += length;
    }
    this.#hold(data, at);
    return undefined;
  }

  #hold(data: Buffer, from: number): void {
    this.#heldOctets = data.length - from;
    this.#held = this.#heldOctets > 0 ? [data.subarray(from)] : [];
  }
}
