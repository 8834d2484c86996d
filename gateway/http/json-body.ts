import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { joinChunks, parseLargeJson, TooLargeError } from '../../shared/platform/runtime/large-json.ts';
import { nextTurn, turnOver } from '../../shared/platform/runtime/turns.ts';
import { sendProblem } from './answer.ts';
import { CALLER_GONE } from './begin.ts';
import { type Charge, type Handler, isObject, type JsonObject, ownerOf, type Reply } from './context.ts';
import { readNoQuery } from './field-problems.ts';
import type { ProblemSlug } from './problem.ts';

/** A body counts as one request for each of these bytes (docs/decisions/0023). A single message is smaller. */
export const BYTES_PER_REQUEST = 16_384;

/**
 * Reads a body of at most `limitBytes` that must be one JSON object in UTF-8. `express.json` would silently replace
 * broken UTF-8 (which alters the message), accept UTF-16, and read an oversized body to its end. Comes after
 * authentication, so that no stranger's body is read. Takes no query: a misplaced `?dry_run=true` would send a message.
 *
 * The body is charged before anything is done with it, even if it is invalid. A large body then waits for its place.
 */
export function jsonBody(limitBytes: number, charge: Charge, large: LargeBodies): Handler {
  return async (req, res: Reply, next) => {
    if (!readNoQuery(req, res)) return;
    const refusal = refusalByHeaders(req, limitBytes);
    if (refusal !== undefined) return sendProblem(res, refusal.slug, { detail: refusal.detail });
    const told = req.headers['content-length'];
    if (told !== undefined && !(await charge(res, costOf(Number(told))))) return;
    if (Math.min(Number(told ?? Number.POSITIVE_INFINITY), limitBytes) > LARGE_BYTES)
      await large.enter(ownerOf(res), res);
    if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();

    const chunks = await read(req, limitBytes);
    if (chunks === 'gone') return res.locals.answered(res, CALLER_GONE);
    const bytes = chunks === 'too_large' ? limitBytes : chunks.reduce((sum, { length }) => sum + length, 0);
    if (told === undefined && !(await charge(res, costOf(bytes)))) return;
    if (chunks === 'too_large') return sendProblem(res, 'body_too_large', { detail: tooLarge(limitBytes) });
    if (bytes > BYTES_PER_REQUEST && turnOver()) await nextTurn();
    const parsed = await (bytes > LARGE_BYTES
      ? parseLargeObject(chunks, bytes)
      : parseObject(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    if (parsed.kind === 'malformed') return sendProblem(res, 'malformed_body', { detail: parsed.detail });
    res.locals.body = parsed.body;
    next();
  };
}

function costOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_REQUEST);
}

/** `gone`: the connection broke before the body was complete, so nobody can be answered. */
async function read(req: Request, limitBytes: number): Promise<readonly Buffer[] | 'too_large' | 'gone'> {
  // A small body arrives with its headers. Waiting would cost three listeners and a turn of the event loop.
  if (req.complete) {
    const body: Buffer | null = req.read();
    if (body === null) return [];
    return body.length > limitBytes ? 'too_large' : [body];
  }
  if (req.destroyed) return 'gone';
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Reads all that arrived in a turn of the event loop as one buffer. A 'data' event would come for each chunk, and
  // one-byte chunks would hold some 400 bytes each until the body's end.
  let planned = false;
  return new Promise((resolve) => {
    const onReadable = (): void => {
      if (planned) return;
      planned = true;
      setImmediate(readArrived);
    };
    const readArrived = (): void => {
      planned = false;
      const piece: Buffer | null = req.read();
      if (piece === null) return;
      chunks.push(piece);
      bytes += piece.length;
      if (bytes <= limitBytes) return;
      req.off('readable', onReadable).off('end', onEnd).resume();
      resolve('too_large');
    };
    const onEnd = (): void => resolve(chunks);
    // Stays registered: the connection can still break while the rest is dropped.
    const onError = (): void => resolve('gone');
    req.on('readable', onReadable).once('end', onEnd).once('error', onError);
  });
}

interface Refusal {
  readonly slug: ProblemSlug;
  readonly detail: string;
}

function refusalByHeaders({ headers }: Request, limitBytes: number): Refusal | undefined {
  const length = Number(headers['content-length'] ?? 0);
  if (length === 0 && headers['transfer-encoding'] === undefined) {
    return { slug: 'malformed_body', detail: 'The body is empty. Send one JSON object.' };
  }
  const type = headers['content-type'];
  if (type === undefined) {
    return { slug: 'unsupported_media_type', detail: 'Send the header `Content-Type: application/json`.' };
  }
  const [mediaType = '', ...parameters] = type.split(';');
  if (mediaType.trim().toLowerCase() !== 'application/json') {
    return { slug: 'unsupported_media_type', detail: 'The body must be `Content-Type: application/json`.' };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    return { slug: 'unsupported_media_type', detail: 'Send the body without `Content-Encoding`.' };
  }
  const charset = charsetOf(parameters);
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    return { slug: 'malformed_body', detail: 'JSON is UTF-8 (RFC 8259 §8.1); leave the charset out or name utf-8.' };
  }
  if (length > limitBytes) return { slug: 'body_too_large', detail: tooLarge(limitBytes) };
  return undefined;
}

function tooLarge(limitBytes: number): string {
  return `The body may have at most ${limitBytes} bytes.`;
}

function charsetOf(parameters: readonly string[]): string | undefined {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim().toLowerCase() === 'charset') return value.trim().replaceAll('"', '').toLowerCase();
  }
  return undefined;
}

type Parsed =
  | { readonly kind: 'object'; readonly body: JsonObject }
  | { readonly kind: 'malformed'; readonly detail: string };

function parseObject(bytes: Buffer): Parsed {
  const unreadable = unreadableText(bytes);
  if (unreadable !== undefined) return unreadable;
  try {
    return objectOf(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    return notJson(error);
  }
}

async function parseLargeObject(chunks: readonly Buffer[], bytes: number): Promise<Parsed> {
  const whole = await joinChunks(chunks, bytes);
  const unreadable = unreadableText(whole);
  if (unreadable !== undefined) return unreadable;
  // Otherwise an array would be refused for the size of its entries.
  if (/^\s*\[/.test(whole.toString('latin1', 0, 64))) return objectOf([]);
  try {
    return objectOf(await parseLargeJson(whole));
  } catch (error) {
    if (error instanceof TooLargeError) {
      return { kind: 'malformed', detail: `The body cannot be read: ${error.message}.` };
    }
    return notJson(error);
  }
}

/** A byte order mark is named in the problem, because quoting it would show nothing. */
function unreadableText(bytes: Buffer): Parsed | undefined {
  if (!isUtf8(bytes)) return { kind: 'malformed', detail: 'The body is not valid UTF-8.' };
  if (!bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) return undefined;
  return {
    kind: 'malformed',
    detail: 'The body begins with a byte order mark. Send UTF-8 without it (RFC 8259 §8.1).',
  };
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

function notJson(error: unknown): Parsed {
  const why = error instanceof SyntaxError ? error.message : 'it cannot be read';
  return { kind: 'malformed', detail: `The body is not valid JSON: ${why}.` };
}

function objectOf(value: unknown): Parsed {
  if (isObject(value)) return { kind: 'object', body: value };
  const what = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
  return { kind: 'malformed', detail: `The body must be one JSON object, not ${what}.` };
}

/** Larger bodies are parsed in pieces and count here: parsing 256 KB of brackets at once took up to 64 ms. */
export const LARGE_BYTES = 65_536;
/** How many large bodies of one account a process holds in memory. */
const TOGETHER_MAX = 4;

/**
 * Bounds memory and work for large bodies of one account: a further body is not read until an earlier one is answered.
 * Its bytes wait in the caller's and the kernel's buffers.
 */
export class LargeBodies {
  readonly #accounts = new Map<AccountId, { open: number; readonly waiting: (() => void)[] }>();

  /** Resolves when the body may be read. The place is freed when the request is answered or its connection is lost. */
  async enter(account: AccountId, res: Reply): Promise<void> {
    const mine = this.#accounts.get(account) ?? { open: 0, waiting: [] };
    this.#accounts.set(account, mine);
    if (mine.open === TOGETHER_MAX) await new Promise<void>((resolve) => mine.waiting.push(resolve));
    else mine.open += 1;
    if (res.closed) this.#leave(account);
    else res.once('close', () => this.#leave(account));
  }

  #leave(account: AccountId): void {
    const mine = this.#accounts.get(account);
    if (mine === undefined) return;
    const next = mine.waiting.shift();
    if (next !== undefined) next();
    else mine.open -= 1;
    if (mine.open === 0) this.#accounts.delete(account);
  }
}

export type RawBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'gone' };

/** `onChunk` sees each part of the body as it comes. */
export function readRawBody(
  req: Request,
  limitBytes: number,
  onChunk: (chunk: Buffer) => void = () => {},
): Promise<RawBody> {
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) return Promise.resolve({ kind: 'too_large' });
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const end = (body: RawBody): void => {
      req.off('data', onData).off('end', onEnd);
      resolve(body);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limitBytes) {
        end({ kind: 'too_large' });
        return;
      }
      chunks.push(chunk);
      onChunk(chunk);
    };
    const onEnd = (): void => end({ kind: 'whole', bytes: Buffer.concat(chunks) });
    req.on('error', () => end({ kind: 'gone' }));
    req.on('data', onData).once('end', onEnd);
  });
}
