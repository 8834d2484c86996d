import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Db } from 'mongodb';
import { objectOf } from '../../../shared/carriers/providers/graph-error.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { findProvider } from '../../../shared/carriers/providers/store.ts';
import { guardOptions } from '../../../shared/events/webhooks/address-guard.ts';
import { failureCode } from '../../../shared/events/webhooks/post.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { BusinessNumber } from '../../../shared/messages/document/chat-message.ts';
import { type AccountId, isMessageId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { pageUser, refusesOther } from '../../access/page-query.ts';
import { FileSlots } from '../../api/csv.ts';
import { endpoint, perProcess } from '../../api/endpoint.ts';
import { id } from '../../api/shapes.ts';
import { beginStream, sendProblem } from '../../http/answer.ts';
import { CALLER_GONE } from '../../http/begin.ts';
import { callerOf, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { LogLimit } from '../chatapp-callbacks/log-limit.ts';
import { disposition, FILE_HEADERS, safeType } from './file-headers.ts';
import { FILE_BYTES_MAX, type Located, type NoFile, type OpenFile, ProviderFiles } from './provider-files.ts';

type MediaDeps = Pick<GatewayDeps, 'box' | 'clock' | 'config' | 'db' | 'fileTimes' | 'log' | 'metrics' | 'resolveHost'>;

const TIMES = {
  /** No piece came from the provider, or the caller took none. The server, too, keeps a caller who reads nothing for this long. */
  idleMs: 30_000,
  /** One file as a whole: 100 MB in it are 1.4 Mbit/s. */
  wholeMs: 600_000,
};
/** One account that fetches all it has leaves most of the process to others. Each file takes two connections and some 200 KB. */
const AT_ONCE = { account: 16, process: 64 };
/** Seconds after which a slot is probably free. */
const RETRY_AFTER = ['Retry-After', '5'] as const;

const FILE = { schema: { type: 'string', format: 'binary' } };
const WHOLE_FILE = {
  ...FILE,
  examples: { answer: { summary: 'Its Content-Type is that of the file', value: '(the bytes of the file)' } },
};

/** Works while the channel is paused or stopped, too: the provider decides (docs/decisions/0019). */
export const chatappMedia = endpoint({
  id: 'chatappMedia',
  call: 'chatapp.media',
  method: 'get',
  path: '/v2/chatapp/media/{message_id}',
  tag: 'Chat-app',
  summary: "File of a customer's message",
  description: [
    'Extension. The image, video, audio, document or sticker that a customer sent: `message.received` of such a type has the `message_id`. The file is handed on from the provider while it comes, so it can be fetched as long as the provider keeps it: Meta does for 7 days at least. Fetch it when the webhook comes, and keep it yourself.',
    "The Content-Type is what the provider says, or `application/octet-stream` for what a browser could run. The Content-Disposition has the name that the customer's phone gave to a document. There is a Content-Length if the provider tells the length; HEAD tells the same without the file. Players ask for parts of sound and films: a `Range` of one part is answered with 206 if the length is known. Everything else, such as several parts at once, gets the whole file. When the provider breaks off, the connection is cut: an answer that does not end properly, or has another length, is no whole file.",
    'A file has at most 100 MB and is cut off after 10 minutes, or when nothing is read of it for 30 seconds. 16 files of an account at a time in each gateway process; of more, the answer is `too_many_files`.',
  ].join('\n\n'),
  scopes: ['read'],
  ownOnly: true,
  params: { message_id: id('msg', 'Id of a message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz') },
  query: { user: pageUser('link') },
  problems: [
    'message_not_found',
    'message_without_file',
    'file_gone',
    'file_unusable',
    'too_many_files',
    'files_busy',
    'provider_unavailable',
    'chatapp_stopped',
    'chatapp_not_configured',
    'secret_unreadable',
  ],
  openapi: {
    parameters: [
      {
        name: 'Range',
        in: 'header',
        description: 'A part of the file (RFC 9110 §14.2).',
        schema: { type: 'string' },
        example: 'bytes=0-1023',
      },
    ],
    responses: {
      200: { content: { 'application/octet-stream': WHOLE_FILE, '*/*': WHOLE_FILE } },
      206: {
        description: 'The part that Range asks for',
        content: { 'application/octet-stream': FILE, '*/*': FILE },
        headers: {
          'Content-Range': {
            description: 'Which bytes of how many these are.',
            schema: { type: 'string', example: 'bytes 0-1023/146515' },
          },
          'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
          RateLimit: { $ref: '#/components/headers/RateLimit' },
          'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
        },
      },
    },
  },
  stream: (gateway, call, res) => mediaOf(gateway).answer(res, call),
});

interface Asked {
  readonly params: { readonly message_id: string };
  readonly query: { readonly user?: string };
}

/** Hands files on from the account's provider while they come. */
class Media {
  readonly #deps: MediaDeps;
  readonly #files: ProviderFiles;
  readonly #slots = new FileSlots(AT_ONCE);
  readonly #report: FileReport;
  readonly #times: NonNullable<GatewayDeps['fileTimes']>;

  constructor(deps: MediaDeps) {
    this.#deps = deps;
    this.#files = new ProviderFiles(deps.box, { ...guardOptions(deps.config), resolve: deps.resolveHost });
    this.#report = new FileReport(deps);
    this.#times = deps.fileTimes ?? TIMES;
  }

  async answer(res: Reply, { params: { message_id: message }, query }: Asked): Promise<void> {
    if (refusesOther(res, query.user)) return;
    if (!isMessageId(message)) return sendProblem(res, 'message_not_found');
    res.locals.messageId = message;
    const { db } = this.#deps;
    const account = callerOf(res).account._id;
    const stored = await readStoredFile(db, account, message);
    if (stored === undefined) return sendProblem(res, 'message_not_found');
    if (stored === null) return sendProblem(res, 'message_without_file');
    const provider = await findProvider(db, stored.number);
    if (provider?.account !== account) return sendProblem(res, 'chatapp_not_configured');
    const release = this.#slots.take(account);
    if (typeof release === 'string') {
      this.#report.count('too_many');
      return sendProblem(res, release === 'account' ? 'too_many_files' : 'files_busy', { headers: RETRY_AFTER });
    }
    this.#report.inFlight(this.#slots.taken);
    const limits = new TimeLimits(res, this.#times.wholeMs);
    try {
      await this.#fetch(res, stored, provider, limits);
    } finally {
      limits.end();
      release();
      this.#report.inFlight(this.#slots.taken);
    }
  }

  async #fetch(res: Reply, stored: StoredFile, provider: ProviderDocument, limits: TimeLimits): Promise<void> {
    limits.allow(provider.timeoutMs);
    const located = await this.#files.locate(provider, stored.mediaId, limits.signal);
    if (located.kind !== 'located') return this.#refuse(res, located, limits);
    if (res.req.method === 'HEAD') {
      beginFile(res, stored, located, located.bytes);
      return void res.end();
    }
    limits.allow(provider.timeoutMs);
    const file = await this.#files.open(provider, located, limits.signal);
    if (file.kind !== 'open') return this.#refuse(res, file, limits);
    try {
      const range = beginFile(res, stored, located, file.bytes);
      limits.allow(this.#times.idleMs);
      await this.#handOn(res, file, range, limits);
    } finally {
      await file.close();
    }
  }

  #refuse(res: Reply, why: NoFile, { reason }: TimeLimits): void {
    if (reason === 'caller_left') {
      this.#report.count(reason);
      res.locals.answered(res, CALLER_GONE);
    } else {
      this.#report.none(res, why);
      sendNoFile(res, why);
    }
  }

  async #handOn(res: Reply, file: OpenFile, range: ByteRange | undefined, limits: TimeLimits): Promise<void> {
    const { body, bytes } = file;
    let count = 0;
    const onPiece = (soFar: number): void => {
      count = soFar;
      limits.goesOn();
    };
    try {
      await relay(body, res, { bytes, bytesMax: FILE_BYTES_MAX, range, signal: limits.signal, onPiece });
      this.#report.count('sent');
    } catch (error) {
      // The answer has begun. What is left is to cut the connection, which the relay has done.
      const code = error instanceof WrongLength ? error.code : failureCode(error);
      this.#report.cut(res, limits.reason ?? 'broken_off', limits.reason ?? code, count);
    }
  }
}

/** Sends the head of the answer. Returns the part of the file that has to follow. Undefined: all of it. */
function beginFile(
  res: Reply,
  { mime, name }: StoredFile,
  located: Located,
  bytes: number | undefined,
): ByteRange | undefined {
  const type = safeType(located.mime ?? mime);
  const { messageId = 'file', stopping } = res.locals;
  const range = bytes === undefined ? undefined : askedRange(res, bytes);
  const length = range === undefined ? bytes : range.last - range.first + 1;
  const headers = [
    ...['Content-Disposition', disposition(type, name, messageId)],
    ...['Accept-Ranges', bytes === undefined ? 'none' : 'bytes'],
    ...(length === undefined ? [] : ['Content-Length', String(length)]),
    ...(range === undefined ? [] : ['Content-Range', `bytes ${range.first}-${range.last}/${bytes}`]),
    ...(stopping.aborted ? ['Connection', 'close'] : []),
  ];
  beginStream(res, type, headers, { status: range === undefined ? 200 : 206, common: FILE_HEADERS });
  return range;
}

/** A part is defined for GET only, and `If-Range` names a version, of which files have none (RFC 9110 §13.1.5, §14.2). */
function askedRange({ req }: Reply, bytes: number): ByteRange | undefined {
  const { range, 'if-range': version } = req.headers;
  return req.method === 'GET' && version === undefined ? readRange(range, bytes) : undefined;
}

const mediaOf = perProcess((gateway) => new Media(gateway));

const REFUSED =
  'The chat-app provider does not hand out files of this account. Ask your service provider to correct its settings.';

/** Why a file may not be handed on, by code. */
const UNUSABLE: Readonly<Record<string, string>> = {
  address_not_allowed: 'The provider named an address for the file that is private, reserved, or not https.',
  content_coding: 'The provider sent the file compressed, which was not asked for.',
  redirect: 'The address of the file leads to another one, which is not followed.',
  too_large: 'The file has more than 100 MB.',
};

const RETRY_AFTER_S = 5;

/** Answers why there is no file, and what the caller can do about it. */
function sendNoFile(res: Reply, { kind, code, retryAfterS = RETRY_AFTER_S }: NoFile): void {
  const headers = ['Retry-After', String(retryAfterS)];
  if (kind === 'gone') sendProblem(res, 'file_gone');
  else if (kind === 'refused') sendProblem(res, 'chatapp_stopped', { detail: REFUSED });
  else if (kind === 'later') sendProblem(res, 'provider_unavailable', { headers });
  else {
    const why = UNUSABLE[code] ?? 'The address of the file did not answer with a file.';
    sendProblem(res, 'file_unusable', { detail: `${why} Report the \`request_id\` to your service provider.` });
  }
}

/** The length is another than was promised, or there is more than may be. */
class WrongLength extends Error {
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
async function relay(from: Readable, to: Writable, options: RelayOptions): Promise<void> {
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

/** How a request for a file ended. `too_many`: no slot was free. `broken_off`: the provider's bytes did not come whole. */
type Result = 'sent' | 'too_many' | 'broken_off' | EndReason | NoFile['kind'];

/** What operators see of files: a count by result, how many are on their way, and log lines. */
class FileReport {
  readonly #log: GatewayDeps['log'];
  readonly #limit: LogLimit;
  readonly #results;
  readonly #inFlight;

  constructor({ clock, log, metrics }: Pick<GatewayDeps, 'clock' | 'log' | 'metrics'>) {
    this.#log = log;
    this.#limit = new LogLimit(clock);
    this.#results = metrics.counter('chatapp_files_total', 'Requests for files of customers, by result.', ['result']);
    this.#inFlight = metrics.gauge('chatapp_files_in_flight', 'Files of customers that are on their way.');
  }

  inFlight(files: number): void {
    this.#inFlight.set(files);
  }

  count(result: Result): void {
    this.#results.inc({ result });
  }

  /** There is no file. Of one reason a minute is logged for each account. */
  none(res: Reply, { kind, code }: NoFile): void {
    this.count(kind);
    const account = callerOf(res).account._id;
    if (!this.#limit.allows(`${account} ${code}`)) return;
    const needsSomebody = kind === 'refused' || kind === 'unusable';
    this.#log[needsSomebody ? 'warn' : 'info']('chatapp_file_not_fetched', { ...fields(res), result: kind, code });
  }

  /** The answer was cut off after `bytes` bytes. */
  cut(res: Reply, result: Result, code: string, bytes: number): void {
    this.count(result);
    this.#log.info('chatapp_file_cut', { ...fields(res), result, code, bytes });
  }
}

function fields(res: Reply) {
  const { requestId, messageId } = res.locals;
  return { account: callerOf(res).account._id, message_id: messageId, request_id: requestId };
}

/** What a customer's message says of its file. */
interface StoredFile {
  /** The provider's id of the file. */
  readonly mediaId: string;
  /** The account's number that it was written to: its provider has the file. */
  readonly number: BusinessNumber;
  readonly mime: string | undefined;
  /** As the customer's phone named it. Only documents have one. */
  readonly name: string | undefined;
}

/** Types of messages that have a file, as the provider names them (WhatsApp Cloud API, webhooks: messages). */
const TYPES = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;
/** The id becomes part of a path. */
const MEDIA_ID = /^[A-Za-z0-9_-]{1,256}$/;

const FIELDS = Object.fromEntries([
  ['to', 1],
  ['inbound.type', 1],
  ...TYPES.flatMap((type) => ['id', 'mime_type', 'filename'].map((member) => [`inbound.more.${type}.${member}`, 1])),
]);

/** The file of a message of the account: null if it has none, undefined if there is no such message. */
async function readStoredFile(db: Db, account: AccountId, id: MessageId): Promise<StoredFile | null | undefined> {
  const message = await db
    .collection<AnyMessage>('messages')
    .findOne<{ readonly to: BusinessNumber; readonly inbound?: unknown }>({ _id: id, account }, { projection: FIELDS });
  return message === null ? undefined : fileOf(message);
}

/** Members of `more` are the provider's, unread. */
function fileOf({ to, inbound }: { readonly to: BusinessNumber; readonly inbound?: unknown }): StoredFile | null {
  const { type, more } = objectOf(inbound) ?? {};
  const own = TYPES.some((one) => one === type) ? objectOf(objectOf(more)?.[String(type)]) : undefined;
  const { id, mime_type: mime, filename } = own ?? {};
  if (typeof id !== 'string' || !MEDIA_ID.test(id)) return null;
  return { mediaId: id, number: to, mime: textOf(mime), name: textOf(filename) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A part of a file: bytes from `first` to `last`, counted from 0, both included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The part that a `Range` header asks for (RFC 9110 §14.2) of a file of so many bytes. Undefined: the whole file is answered, as the
 * RFC allows for everything that a server does not know. That is several parts at once, and a part behind the end.
 */
function readRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [, from = '', to = ''] = ONE_RANGE.exec(header ?? '') ?? [];
  const range =
    from === '' // The last so many bytes.
      ? { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
      : { first: Number(from), last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) };
  return range.first <= range.last ? range : undefined;
}

type EndReason = 'caller_left' | 'too_slow';

/** Ends what is done for a caller who has left, and what takes too long: a step of it, or the whole. */
class TimeLimits {
  readonly #end = new AbortController();
  readonly #whole: NodeJS.Timeout;
  readonly #left: () => void;
  readonly #res: ServerResponse;
  /** Kept, because `res.socket` is null when the answer is written. */
  readonly #connection: ServerResponse['socket'];
  #step: NodeJS.Timeout | undefined;
  #reason: EndReason | undefined;

  /** `wholeMs`: limit of the whole. */
  constructor(res: ServerResponse, wholeMs: number) {
    this.#res = res;
    this.#connection = res.socket;
    this.#left = () => {
      // `close` comes after a complete answer too.
      if (!res.writableFinished) this.#abort('caller_left');
    };
    this.#whole = setTimeout(() => this.#abort('too_slow'), wholeMs);
    // The caller left while the store was asked: `close` will not come a second time.
    if (res.closed || this.#connection?.readableEnded) this.#left();
    else res.once('close', this.#left);
    // A program that ends its side has gone. Callers of other requests may still wait for an answer (http/server.ts).
    this.#connection?.once('end', this.#left);
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Undefined while nothing has ended it. */
  get reason(): EndReason | undefined {
    return this.#reason;
  }

  /** A step begins that may take this long. It ends the step before. */
  allow(ms: number): void {
    clearTimeout(this.#step);
    this.#step = setTimeout(() => this.#abort('too_slow'), ms);
  }

  /** The step goes on, and has its whole time again. */
  goesOn(): void {
    this.#step?.refresh();
  }

  /** Nothing is limited any more. */
  end(): void {
    clearTimeout(this.#whole);
    clearTimeout(this.#step);
    this.#res.off('close', this.#left);
    this.#connection?.off('end', this.#left);
  }

  #abort(reason: EndReason): void {
    this.#reason ??= reason;
    this.#end.abort();
  }
}
