/** A part of a file: bytes from `first` to `last`, counted from 0, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The part that a `Range` header asks for (RFC 9110 §14.2) of a file of so many bytes. Undefined: the whole file is answered, as the
 * RFC allows for everything that a server does not know. That is several parts at once, and a part behind the end.
 */
export function readRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [, from = '', to = ''] = ONE_RANGE.exec(header ?? '') ?? [];
  const range =
    from === '' // The last so many bytes.
      ? { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
      : { first: Number(from), last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) };
  return range.first <= range.last ? range : undefined;
}
