import { randomUUID } from 'node:crypto';
import { nextTurn, turnOver } from './turns.ts';

/**
 * `JSON.parse` for bodies of megabytes, in slices, because it would block the event loop for about 10 ms a megabyte.
 * Large lists in the top-level object are cut between their entries and parsed piece by piece. The rest, with a marker
 * for each such list, is parsed as a whole and must be small.
 */
export async function parseLargeJson(bytes: Buffer): Promise<unknown> {
  const lists = await findLargeLists(bytes);
  const nonce = randomUUID();
  const rest: string[] = [];
  const values = new Map<string, unknown[]>();
  let restBytes = 0;
  let behind = 0;
  for (const [number, { start, end, cuts }] of lists.entries()) {
    const marker = `${nonce}:${number}`;
    values.set(marker, await parseEntries(bytes, [start, ...cuts, end]));
    restBytes += start - behind;
    rest.push(bytes.toString('utf8', behind, start), JSON.stringify(marker));
    behind = end + 1;
  }
  restBytes += bytes.length - behind;
  if (restBytes > REST_MAX) throw new TooLargeError(`all that is not in a list may have at most ${REST_MAX} bytes`);
  rest.push(bytes.toString('utf8', behind));
  const body = parsePart(rest.join(''), 'where each long list is shown as a short text');
  if (typeof body !== 'object' || body === null) return body;
  for (const [name, value] of Object.entries(body)) {
    const list = typeof value === 'string' ? values.get(value) : undefined;
    // Defined, not assigned: "__proto__" is a name like any other in JSON.
    if (list !== undefined) Object.defineProperty(body, name, { value: list, enumerable: true });
  }
  return body;
}

/** Bytes copied in one turn: 10 MB of fresh memory take 10 ms, several times as long on a busy machine. */
const JOIN_BYTES = 1_048_576;

export async function joinChunks(chunks: readonly Buffer[], bytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (let i = 0, pause = JOIN_BYTES; i < chunks.length; i++) {
    at += chunks[i]?.copy(whole, at) ?? 0;
    if (at < pause) continue;
    if (turnOver()) await nextTurn();
    pause = at + JOIN_BYTES;
  }
  return whole;
}

/** Perhaps well-formed, but not parsable in slices, or larger than any endpoint accepts (RFC 8259 §9). */
export class TooLargeError extends Error {
  readonly code = 'body_part_too_large';
}

/** Lists are cut into pieces of about this size: a fraction of a millisecond each. */
const PIECE_BYTES = 32_768;
/** Far more than any entry needs. */
const ENTRY_MAX = 65_536;
const REST_MAX = 65_536;
const SCAN_BYTES = 65_536;
/** Endpoints use four levels. Deep brackets would keep the garbage collector busy all at once. */
const DEPTH_MAX = 64;
/** Counted by their commas: 50 for each of 10,000 recipients. Millions would block the loop and take 0.5 GB. */
const VALUES_MAX = 500_000;

interface LargeList {
  /** Index of its `[` and of its `]`. */
  readonly start: number;
  readonly end: number;
  readonly cuts: readonly number[];
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The lists one level below the top that must be cut. Counts brackets; `JSON.parse` checks that they match. */
async function findLargeLists(bytes: Buffer): Promise<LargeList[]> {
  const lists: LargeList[] = [];
  let depth = 0;
  let values = 1;
  let inString = false;
  /** Start of the list at depth 2; -1 outside of one. */
  let start = -1;
  let pieceStart = 0;
  let cuts: number[] = [];
  for (let i = 0, pause = SCAN_BYTES; i < bytes.length; i++) {
    if (i >= pause) {
      if (turnOver()) await nextTurn();
      pause = i + SCAN_BYTES;
    }
    const byte = bytes[i];
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === COMMA) {
      if (++values > VALUES_MAX) throw new TooLargeError(`it may have at most ${VALUES_MAX} values`);
      if (depth === 2 && start !== -1 && i - pieceStart >= PIECE_BYTES) {
        cuts.push(i);
        pieceStart = i;
      }
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth++;
      if (depth > DEPTH_MAX) throw new TooLargeError(`it may be nested at most ${DEPTH_MAX} levels deep`);
      if (depth === 2 && byte === OPEN_LIST) {
        start = i;
        pieceStart = i;
        cuts = [];
      }
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 2 && byte === CLOSE_LIST && cuts.length > 0) lists.push({ start, end: i, cuts });
      if (depth === 2) {
        start = -1;
        cuts = [];
      }
      depth--;
    }
  }
  return lists;
}

/** JSON.parse tells positions in the part, so the error says which part it is. */
function parsePart(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new SyntaxError(`${error.message}, ${place}`);
    throw error;
  }
}

/** `ends`: the boundaries of the pieces, which exclude their commas and brackets. */
async function parseEntries(bytes: Buffer, ends: readonly number[]): Promise<unknown[]> {
  const entries: unknown[] = [];
  for (let n = 1; n < ends.length; n++) {
    const from = (ends[n - 1] ?? 0) + 1;
    const to = ends[n] ?? 0;
    if (to - from > PIECE_BYTES + ENTRY_MAX) throw new TooLargeError(`an entry may have at most ${ENTRY_MAX} bytes`);
    const piece = parsePart(
      `[${bytes.toString('utf8', from, to)}]`,
      `in the part of a list that begins at byte ${from}`,
    );
    // An empty piece is an error: `[1,]` has nothing after its comma.
    if (!Array.isArray(piece) || piece.length === 0) throw new SyntaxError('a list has a comma without an entry');
    for (const entry of piece) entries.push(entry);
    if (turnOver()) await nextTurn();
  }
  return entries;
}
