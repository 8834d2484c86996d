import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ByteRange } from './byte-range.ts';

/** The length is another than was promised, or there is more than may be. */
export class WrongLength extends Error {
  readonly code = 'wrong_length';
}

interface RelayOptions {
  /** The exact length, if it is known. */
  readonly bytes: number | undefined;
  readonly bytesMax: number;
  /** The part that is handed on. Undefined: all of it. */
  readonly range: ByteRange | undefined;
  readonly signal: AbortSignal;
  /** Called with the bytes so far, whenever a piece is about to be written. */
  onPiece(bytes: number): void;
}

/**
 * Hands a file or a part of it on, piece by piece, no faster than it is taken. What is before the part is read and dropped. Rejects
 * when it ends early, has another length, when the taker has left, or by the signal. Both ends are destroyed then: the taker's
 * connection is cut, so that nobody takes some of it for the whole.
 */
export async function relay(from: Readable, to: Writable, options: RelayOptions): Promise<void> {
  const { bytes, bytesMax, range, signal, onPiece } = options;
  const { first, last } = range ?? { first: 0, last: Number.POSITIVE_INFINITY };
  let count = 0;
  await pipeline(
    from,
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        count += piece.length;
        if (count > (bytes ?? bytesMax)) throw new WrongLength(`more than ${bytes ?? bytesMax} bytes`);
        onPiece(count);
        const at = count - piece.length;
        if (count > first) yield piece.subarray(Math.max(0, first - at), last + 1 - at);
        if (count > last) return;
      }
      if (bytes !== undefined && count < bytes) throw new WrongLength(`${count} of ${bytes} bytes`);
    },
    to,
    { signal },
  );
}
