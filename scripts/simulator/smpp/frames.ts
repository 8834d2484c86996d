import { HEADER_OCTETS } from './commands.ts';

/**
 * Cuts a TCP stream into PDUs by their command_length (SMPP 3.4 §3.2), however the bytes were split on the way. Pieces of
 * an unfinished PDU are kept as they came and joined once, so that a large one in tiny pieces costs no more than its size.
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
   * Gives every PDU that `chunk` completes to `take`, in order. Returns the command_length that cannot be right
   * (below 16 or above the limit) once one was met: the stream cannot be followed any further, and all later calls
   * return the same.
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
