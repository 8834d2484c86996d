import { TooLargeError } from '../../shared/runtime/large-json.ts';
import { Slice } from './slice.ts';

/**
 * What is wanted of a large JSON text. `members`: an object of which these are read and all others are passed over. `entries`: a
 * list. `item`: an object that is small and is then read whole; one that is not is read as far as its members here. `small`:
 * anything, if it is small.
 */
export type Shape =
  | { readonly kind: 'members'; readonly members: Readonly<Record<string, Shape>> }
  | { readonly kind: 'entries'; readonly entries: Shape }
  | { readonly kind: 'item'; readonly members: Readonly<Record<string, Shape>> }
  | { readonly kind: 'small' };

export const SMALL: Shape = { kind: 'small' };

export interface Shaped {
  readonly value: unknown;
  /** Items that are there in part, and other values that are not there, because they are too large. */
  readonly cut: number;
}

/** Parsed at once: a fraction of a millisecond, some 3 when there is nothing in it but values. */
const SMALL_BYTES = 65_536;
/** Small items that follow one another are parsed together up to this size. */
const PIECE_BYTES = 32_768;
/** A longer name is none that anybody looks for, escaped or not. */
const NAME_BYTES = 512;
/** Values of all that is read, told by commas and brackets: a million objects are a long walk for the collector. */
const VALUES_MAX = 250_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * `JSON.parse` of megabytes of which a few places may be large, in slices of a few milliseconds; however hostile the text is.
 * What is too large for its place is passed over without ever becoming a value, and counted; of what is passed over only
 * strings and brackets are checked. `bytes` are valid UTF-8. Throws a SyntaxError, or a TooLargeError for too many values.
 */
export async function parseShapedJson(bytes: Buffer, shape: Shape): Promise<Shaped> {
  const parser = new Parser(bytes);
  const value = await parser.value(shape);
  parser.end();
  return { value, cut: parser.cut };
}

class Parser {
  cut = 0;
  readonly #bytes: Buffer;
  readonly #slice = new Slice();
  #at = 0;
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  async value(shape: Shape): Promise<unknown> {
    const first = this.#peek();
    if (shape.kind === 'entries' && first === OPEN_LIST) return this.#list(shape.entries);
    if (shape.kind === 'members' && first === OPEN_OBJECT) return this.#object(shape.members);
    if (shape.kind === 'item' && first === OPEN_OBJECT) {
      const start = this.#at;
      if (this.#skip(SMALL_BYTES) <= SMALL_BYTES) return this.#parse(start, this.#at);
      this.#at = start;
      const before = this.cut;
      const item = await this.#object(shape.members);
      this.cut = before + 1;
      return item;
    }
    const start = this.#at;
    if (this.#skip() <= SMALL_BYTES) return this.#parse(start, this.#at);
    this.cut++;
    return undefined;
  }

  end(): void {
    if (this.#peek() !== undefined) throw new SyntaxError('there is something behind the end of the JSON text');
  }

  async #object(members: Readonly<Record<string, Shape>>): Promise<Readonly<Record<string, unknown>>> {
    const found: Record<string, unknown> = {};
    this.#expect(OPEN_OBJECT);
    if (this.#peek() === CLOSE_OBJECT) {
      this.#at++;
      return found;
    }
    do {
      if (this.#slice.over) await this.#slice.rest();
      if (this.#peek() !== QUOTE) throw new SyntaxError('an object has something that is no name');
      const start = this.#at;
      const name = this.#skip() <= NAME_BYTES ? String(JSON.parse(this.#bytes.toString('utf8', start, this.#at))) : '';
      this.#expect(COLON);
      const shape = Object.hasOwn(members, name) ? members[name] : undefined;
      if (shape === undefined) this.#skip();
      else found[name] = await this.value(shape);
    } while (this.#goesOn(CLOSE_OBJECT));
    return found;
  }

  async #list(shape: Shape): Promise<unknown[]> {
    const found: unknown[] = [];
    this.#expect(OPEN_LIST);
    if (this.#peek() === CLOSE_LIST) {
      this.#at++;
      return found;
    }
    const whole = shape.kind === 'item' || shape.kind === 'small';
    /** Where small items begin that are not parsed yet, and where they end. */
    let start = -1;
    let end = -1;
    const parse = (): void => {
      if (start !== -1) for (const entry of this.#entries(start, end)) found.push(entry);
      start = -1;
    };
    do {
      this.#peek();
      const from = this.#at;
      if (whole && this.#skip(SMALL_BYTES) <= SMALL_BYTES) {
        if (start === -1) start = from;
        end = this.#at;
        if (end - start >= PIECE_BYTES) parse();
      } else {
        parse();
        this.#at = from;
        found.push(await this.value(shape));
        this.#count(1);
      }
      if (this.#slice.over) await this.#slice.rest();
    } while (this.#goesOn(CLOSE_LIST));
    parse();
    return found;
  }

  #entries(start: number, end: number): readonly unknown[] {
    const entries: unknown = JSON.parse(`[${this.#text(start, end)}]`);
    return Array.isArray(entries) ? entries : [];
  }

  #parse(start: number, end: number): unknown {
    return JSON.parse(this.#text(start, end));
  }

  #text(start: number, end: number): string {
    let values = 1;
    for (let i = start; i < end; i++) {
      const byte = this.#bytes[i];
      if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values++;
    }
    this.#count(values);
    return this.#bytes.toString('utf8', start, end);
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > VALUES_MAX) throw new TooLargeError(`it may have at most ${VALUES_MAX} values`);
  }

  /** Goes behind the value that begins here; its bytes. With `most` not further than to see that it has more. */
  #skip(most = Number.POSITIVE_INFINITY): number {
    const bytes = this.#bytes;
    this.#peek();
    const start = this.#at;
    let at = start;
    let depth = 0;
    let inString = false;
    for (; at < bytes.length; at++) {
      if (at - start > most) return at - start;
      const byte = bytes[at];
      if (inString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) {
          inString = false;
          if (depth === 0) break;
        }
      } else if (byte === QUOTE) {
        if (depth === 0 && at > start) break;
        inString = true;
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        if (depth === 0 && at > start) break;
        depth++;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth <= 1) break;
        depth--;
      } else if (depth === 0 && (byte === COMMA || byte === COLON || isBlank(byte))) {
        break;
      }
    }
    // A string or a bracket ends with its last byte, a number or a word before what follows it.
    const own = bytes[start];
    if (own === QUOTE || own === OPEN_LIST || own === OPEN_OBJECT) at++;
    if (at > bytes.length) throw new SyntaxError('it ends in the midst of a value');
    if (at === start) throw new SyntaxError('a value is missing');
    this.#at = at;
    return at - start;
  }

  /** The next byte that is no blank; it is not passed over. */
  #peek(): number | undefined {
    while (isBlank(this.#bytes[this.#at])) this.#at++;
    return this.#bytes[this.#at];
  }

  #expect(byte: number): void {
    if (this.#peek() !== byte) throw new SyntaxError(`"${String.fromCharCode(byte)}" is missing`);
    this.#at++;
  }

  /** Behind a member or an entry: whether another one follows, or this was the last. */
  #goesOn(close: number): boolean {
    const byte = this.#peek();
    this.#at++;
    if (byte !== COMMA && byte !== close) throw new SyntaxError('a comma or the closing bracket is missing');
    return byte === COMMA;
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
