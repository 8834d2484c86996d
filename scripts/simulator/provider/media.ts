import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FileFate, type FileRead, sendFile } from './file-fates.ts';
import { type Json, sendError, sendJson, sendNoObject } from './http.ts';
import { ERRORS } from './magic-customers.ts';
import type { ProviderOptions } from './options.ts';

/** A file that a customer sends. */
export interface CustomersFile {
  /** The bytes, or how many of them are made up when it is read. */
  readonly content: Buffer | number;
  readonly mime: string;
  /** `image`, `video`, `audio`, `document` or `sticker`. */
  readonly type: string;
  readonly caption?: string;
  /** Only documents have names. */
  readonly name?: string;
  /** What happens when somebody reads it. Undefined: it comes whole. */
  readonly fate?: FileFate;
}

interface KeptFile extends CustomersFile {
  readonly sha256: Buffer;
  readonly untilMs: number;
}

const PIECE = 65_536;

/**
 * The files that customers sent (Cloud API, "Media"): an id leads to an address, the address to the bytes. Both demand the
 * token. The address lives some minutes, the file some days.
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

  /** Keeps the file. Returns the message that tells the app of it. */
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

  /** `GET /{version}/{media_id}?phone_number_id=…`. `host` becomes the host of the file's address. */
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

  /** The address of a file: `GET /attachments?mid=…&ext=…&hash=…`. */
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

/** The first `length` bytes. Behind the end of the content come zeros. */
function* pieces(content: Buffer | number, length: number): Generator<Buffer> {
  const made = Buffer.alloc(PIECE, 'simulated ');
  for (let at = 0; at < length; at += PIECE) {
    const until = Math.min(at + PIECE, length);
    if (typeof content === 'number') yield made.subarray(0, until - at);
    else
      yield until <= content.length ? content.subarray(at, until) : Buffer.concat([content.subarray(at)], until - at);
  }
}
