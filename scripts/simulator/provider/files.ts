import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  type GraphError,
  type Json,
  list,
  noObject,
  object,
  sendError,
  sendJson,
  sendNoObject,
  type TemplateError,
} from './http.ts';
import { ERRORS } from './magic-customers.ts';
import type { ProviderOptions } from './options.ts';

export interface CustomersFile {
  /** The bytes, or how many to generate. */
  readonly content: Buffer | number;
  readonly mime: string;
  /** `image`, `video`, `audio`, `document` or `sticker`. */
  readonly type: string;
  readonly caption?: string;
  /** Documents only. */
  readonly name?: string;
  /** What happens when the file is read. Undefined: it is sent whole. */
  readonly fate?: FileFate;
}

interface KeptFile extends CustomersFile {
  readonly sha256: Buffer;
  readonly untilMs: number;
}

const PIECE = 65_536;

/**
 * Customers' files (Cloud API, "Media"): an id leads to a URL, the URL to the bytes. Both need the token. The URL lives
 * for minutes, the file for days.
 */
export class Media {
  /** Oldest first. */
  readonly reads: FileRead[] = [];
  readonly #options: ProviderOptions;
  readonly #files = new Map<string, KeptFile>();
  readonly #key = randomBytes(32);

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /** Returns the message that tells the app of the file. */
  keep(file: CustomersFile): Json {
    const id = String(randomInt(1e14, 2e14));
    const sha256 = createHash('sha256');
    for (const piece of pieces(file.content, sizeOf(file.content))) sha256.update(piece);
    const kept = { ...file, sha256: sha256.digest(), untilMs: Date.now() + this.#options.mediaKeptMs };
    this.#files.set(id, kept);
    const { type, mime, caption, name } = file;
    const own = {
      ...{ id, mime_type: mime, sha256: kept.sha256.toString('base64') },
      ...(caption !== undefined && { caption }),
      ...(type === 'document' && name !== undefined && { filename: name }),
    };
    return { type, [type]: own };
  }

  has(id: string): boolean {
    return this.#files.has(id);
  }

  /** `GET /{version}/{media_id}?phone_number_id=…`. The file's URL gets the request's host. */
  look(id: string, { searchParams }: URL, request: IncomingMessage, response: ServerResponse): void {
    const file = this.#found(id);
    const { phoneNumberId, more } = this.#options;
    const number = searchParams.get('phone_number_id') ?? phoneNumberId;
    const ours = [phoneNumberId, ...more.map((one) => one.phoneNumberId)];
    if (!this.#knows(request)) sendError(response, ERRORS.token);
    else if (file === undefined || file.fate === 'gone' || !ours.includes(number)) {
      sendNoObject(response, 'GET', id);
    } else {
      const ext = String(Date.now() + this.#options.mediaUrlMs);
      const host = this.#options.mediaHost ?? request.headers.host;
      sendJson(response, 200, {
        url: `http://${host}/attachments?mid=${id}&ext=${ext}&hash=${this.#hash(id, ext)}`,
        mime_type: file.mime,
        sha256: file.sha256.toString('hex'),
        file_size: sizeOf(file.content),
        ...{ id, messaging_product: 'whatsapp' },
      });
    }
  }

  /** A file's URL: `GET /attachments?mid=…&ext=…&hash=…`. */
  async send({ searchParams }: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [id = '', ext = '', hash] = ['mid', 'ext', 'hash'].map((name) => searchParams.get(name) ?? '');
    const file = this.#found(id);
    if (!this.#knows(request)) return sendError(response, ERRORS.token);
    if (file === undefined || hash !== this.#hash(id, ext) || Number(ext) < Date.now()) {
      return void response.writeHead(404, { 'content-type': 'text/html' }).end('<html>Not Found</html>');
    }
    const read: FileRead = { id, sent: 0, ended: 'open' };
    this.reads.push(read);
    const { mime, fate, content } = file;
    await sendFile(response, read, { mime, fate, size: sizeOf(content), pieces: (length) => pieces(content, length) });
  }

  #found(id: string): KeptFile | undefined {
    const file = this.#files.get(id);
    return file !== undefined && file.untilMs > Date.now() ? file : undefined;
  }

  #knows({ headers }: IncomingMessage): boolean {
    return headers.authorization === `Bearer ${this.#options.token}`;
  }

  #hash(id: string, ext: string): string {
    return createHmac('sha256', this.#key).update(`${id} ${ext}`).digest('base64url');
  }
}

function sizeOf(content: Buffer | number): number {
  return typeof content === 'number' ? content : content.length;
}

/** The first `length` bytes, padded with zeros. */
function* pieces(content: Buffer | number, length: number): Generator<Buffer> {
  const made = Buffer.alloc(PIECE, 'simulated ');
  for (let at = 0; at < length; at += PIECE) {
    const until = Math.min(at + PIECE, length);
    if (typeof content === 'number') yield made.subarray(0, until - at);
    else
      yield until <= content.length ? content.subarray(at, until) : Buffer.concat([content.subarray(at)], until - at);
  }
}

/** The largest upload that is read. */
export const UPLOAD_MAX = 104_857_600;

const HEADER_TYPES: Readonly<Record<string, readonly string[]>> = {
  IMAGE: ['image/jpeg', 'image/jpg', 'image/png'],
  VIDEO: ['video/mp4'],
  DOCUMENT: ['application/pdf'],
};
/** Its own shape, or an error of the Graph API. */
type UploadAnswer = { readonly status: number; readonly body: object } | GraphError;
const TYPES = Object.values(HEADER_TYPES).flat();

/** Resumable uploads to an app, each in one piece (Graph API, "Resumable Upload API"). */
export class Uploads {
  /** Types of completely uploaded files. */
  readonly taken: string[] = [];
  readonly #options: Pick<ProviderOptions, 'appId' | 'token'>;
  readonly #sessions = new Map<string, { readonly length: number; readonly type: string }>();
  readonly #handles = new Map<string, string>();

  constructor(options: Pick<ProviderOptions, 'appId' | 'token'>) {
    this.#options = options;
  }

  /** `POST /{app}/uploads?file_name&file_length&file_type`. */
  start(app: string, query: URLSearchParams, headers: IncomingHttpHeaders): UploadAnswer {
    if (!this.#knows(headers)) return ERRORS.token;
    if (app !== this.#options.appId) return { status: 400, body: noObject('POST', app) };
    const length = Number(query.get('file_length'));
    const type = query.get('file_type') ?? '';
    if (!(Number.isInteger(length) && length > 0) || !TYPES.includes(type)) {
      return { ...ERRORS.parameter, details: 'file_length or file_type is wrong' };
    }
    const session = `upload:${randomBytes(24).toString('base64url')}?sig=${randomBytes(12).toString('base64url')}`;
    this.#sessions.set(session, { length, type });
    return { status: 200, body: { id: session } };
  }

  /** `POST /{session}` with the bytes, authorized by the scheme `OAuth`. */
  take(session: string, bytes: Buffer, { authorization, file_offset: offset }: IncomingHttpHeaders): UploadAnswer {
    const open = this.#sessions.get(session);
    if (authorization !== `OAuth ${this.#options.token}`) return ERRORS.token;
    if (open === undefined) return refuse(404, 'SessionNotFoundError', 'There is no such upload session');
    if (offset !== '0') return refuse(412, 'OffsetInvalidError', 'Request starting offset is invalid');
    if (bytes.length !== open.length) {
      return refuse(400, 'PartialRequestError', 'Partial request (did not match length of file)');
    }
    this.#sessions.delete(session);
    const digest = createHash('sha256').update(bytes).update(session).digest('base64url');
    const handle = `4::${Buffer.from(open.type).toString('base64url')}:${digest}`;
    this.#handles.set(handle, open.type);
    this.taken.push(open.type);
    return { status: 200, body: { h: handle } };
  }

  /** Faults of a template header's sample: its handle must belong to an upload of a type for that header. */
  faultOf({ components }: Json): TemplateError | undefined {
    const header = list(components).find(({ type }) => type === 'HEADER');
    const types = HEADER_TYPES[String(header?.format)];
    if (types === undefined) return undefined;
    const handles = object(header?.example)?.header_handle;
    const type = Array.isArray(handles) ? this.#handles.get(String(handles[0])) : undefined;
    if (type !== undefined && types.includes(type)) return undefined;
    return {
      ...{ code: 131009, subcode: 2494102, title: 'Media handle is not valid' },
      message: 'The uploaded media handle is not valid. Upload the media again.',
    };
  }

  #knows({ authorization }: IncomingHttpHeaders): boolean {
    const { token } = this.#options;
    return authorization === `OAuth ${token}` || authorization === `Bearer ${token}`;
  }
}

/** The upload servers have their own shape of errors. */
function refuse(status: number, type: string, message: string): UploadAnswer {
  return { status, body: { debug_info: { retriable: false, type, message } } };
}

/**
 * What happens to a reader of a file. `gone`: unknown id · `lost`: the URL answers 404 · `busy`: 503 · `silent`: no
 * answer · `stall`: half, then nothing · `cut`: half, then a broken connection · `short`, `long`: fewer or more bytes
 * than promised, in chunks · `redirect`: 302 to another host.
 */
export const FILE_FATES = ['gone', 'lost', 'busy', 'silent', 'stall', 'cut', 'short', 'long', 'redirect'] as const;
type FileFate = (typeof FILE_FATES)[number];

/** How many bytes of a file were written so far, and how the read ended. */
export interface FileRead {
  readonly id: string;
  sent: number;
  ended: 'open' | 'whole' | 'cut';
}

interface Sent {
  readonly mime: string;
  readonly fate: FileFate | undefined;
  readonly size: number;
  /** Its first bytes. */
  pieces(length: number): Iterable<Buffer>;
}

/** Sends a file at the reader's pace, or acts out its fate. Notes its progress in `read`. */
async function sendFile(response: ServerResponse, read: FileRead, sent: Sent): Promise<void> {
  const { mime, fate, size } = sent;
  const closed = once(response, 'close').then(() => {
    read.ended = response.writableFinished ? 'whole' : 'cut';
  });
  if (fate === 'silent') return;
  if (fate === 'lost') return void response.writeHead(404).end();
  if (fate === 'busy') return void response.writeHead(503, { 'retry-after': '7' }).end();
  if (fate === 'redirect') return void response.writeHead(302, { location: 'http://other.example/file' }).end();
  const inChunks = fate === 'short' || fate === 'long';
  response.writeHead(200, { 'content-type': mime, ...(inChunks ? {} : { 'content-length': size }) });
  for (const piece of sent.pieces(lengthBy(fate, size))) {
    if (response.destroyed) return;
    read.sent += piece.length;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
  }
  // In the next turn, when the written bytes are on their way.
  if (fate === 'cut') setImmediate(() => response.destroy());
  else if (fate !== 'stall') response.end();
}

function lengthBy(fate: FileFate | undefined, size: number): number {
  if (fate === 'stall' || fate === 'cut') return Math.floor(size / 2);
  if (fate === 'short') return size - 1;
  return fate === 'long' ? size + 1 : size;
}
