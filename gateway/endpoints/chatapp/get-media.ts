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
  /** The provider sent nothing, or the caller read nothing. The server itself has the same limit for callers. */
  idleMs: 30_000,
  /** The whole file: 100 MB in this time are 1.4 Mbit/s. */
  wholeMs: 600_000,
};
/** Leaves room for other accounts. Each file takes two connections and some 200 KB. */
const AT_ONCE = { account: 16, process: 64 };
/** Seconds. */
const RETRY_AFTER = ['Retry-After', '5'] as const;

const FILE = { schema: { type: 'string', format: 'binary' } };
const WHOLE_FILE = {
  ...FILE,
  examples: { answer: { summary: 'Its Content-Type is that of the file', value: '(the bytes of the file)' } },
};

/** Works also while the channel is paused or stopped: the provider decides (docs/decisions/0019). */
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
      // The answer has begun, and the relay has cut the connection.
      const code = error instanceof WrongLength ? error.code : failureCode(error);
      this.#report.cut(res, limits.reason ?? 'broken_off', limits.reason ?? code, count);
    }
  }
}

/** Sends the head of the answer. Returns the part of the file that has to follow; undefined for all of it. */
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

/** `Range` is for GET only, and `If-Range` names a version, which files do not have (RFC 9110 §13.1.5, §14.2). */
function askedRange({ req }: Reply, bytes: number): ByteRange | undefined {
  const { range, 'if-range': version } = req.headers;
  return req.method === 'GET' && version === undefined ? readRange(range, bytes) : undefined;
}

const mediaOf = perProcess((gateway) => new Media(gateway));

const REFUSED =
  'The chat-app provider does not hand out files of this account. Ask your service provider to correct its settings.';

const UNUSABLE: Readonly<Record<string, string>> = {
  address_not_allowed: 'The provider named an address for the file that is private, reserved, or not https.',
  content_coding: 'The provider sent the file compressed, which was not asked for.',
  redirect: 'The address of the file leads to another one, which is not followed.',
  too_large: 'The file has more than 100 MB.',
};

const RETRY_AFTER_S = 5;

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

/** The file is longer or shorter than announced, or larger than allowed. */
class WrongLength extends Error {
  readonly code = 'wrong_length';
}

interface RelayOptions {
  readonly bytes: number | undefined;
  readonly bytesMax: number;
  /** The part that is passed on; undefined for all of it. */
  readonly range: ByteRange | undefined;
  readonly signal: AbortSignal;
  /** Called with the bytes so far, before each piece is written. */
  onPiece(bytes: number): void;
}

/**
 * Passes a file or a part of it on, no faster than the caller reads. Bytes before the part are read and dropped.
 * Rejects when the file ends early or has another length, when the caller has left, or by the signal. Both streams are
 * destroyed then: the cut connection shows that the file is incomplete.
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

/** How a request for a file ended. `too_many`: no slot was free. `broken_off`: the provider's bytes were incomplete. */
type Result = 'sent' | 'too_many' | 'broken_off' | EndReason | NoFile['kind'];

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

  /** Logs one line a minute for each account and reason. */
  none(res: Reply, { kind, code }: NoFile): void {
    this.count(kind);
    const account = callerOf(res).account._id;
    if (!this.#limit.allows(`${account} ${code}`)) return;
    const needsSomebody = kind === 'refused' || kind === 'unusable';
    this.#log[needsSomebody ? 'warn' : 'info']('chatapp_file_not_fetched', { ...fields(res), result: kind, code });
  }

  cut(res: Reply, result: Result, code: string, bytes: number): void {
    this.count(result);
    this.#log.info('chatapp_file_cut', { ...fields(res), result, code, bytes });
  }
}

function fields(res: Reply) {
  const { requestId, messageId } = res.locals;
  return { account: callerOf(res).account._id, message_id: messageId, request_id: requestId };
}

interface StoredFile {
  readonly mediaId: string;
  /** The account's number that received the message: its provider has the file. */
  readonly number: BusinessNumber;
  readonly mime: string | undefined;
  /** As the customer's phone named it; documents only. */
  readonly name: string | undefined;
}

/** Types of messages with a file, as the provider names them (WhatsApp Cloud API, webhooks: messages). */
const TYPES = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;
/** Becomes part of a path. */
const MEDIA_ID = /^[A-Za-z0-9_-]{1,256}$/;

const FIELDS = Object.fromEntries([
  ['to', 1],
  ['inbound.type', 1],
  ...TYPES.flatMap((type) => ['id', 'mime_type', 'filename'].map((member) => [`inbound.more.${type}.${member}`, 1])),
]);

/** Null: the message has no file. Undefined: there is no such message. */
async function readStoredFile(db: Db, account: AccountId, id: MessageId): Promise<StoredFile | null | undefined> {
  const message = await db
    .collection<AnyMessage>('messages')
    .findOne<{ readonly to: BusinessNumber; readonly inbound?: unknown }>({ _id: id, account }, { projection: FIELDS });
  return message === null ? undefined : fileOf(message);
}

/** Members of `more` are the provider's, unchecked. */
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

/** Bytes from `first` to `last`, counted from 0, both included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The part of a file of `bytes` bytes that a `Range` header asks for (RFC 9110 §14.2). Undefined for the whole file,
 * which the RFC allows for all that a server does not support: several parts at once, or a part beyond the end.
 */
function readRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [, from = '', to = ''] = ONE_RANGE.exec(header ?? '') ?? [];
  const range =
    from === '' // the last so many bytes
      ? { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
      : { first: Number(from), last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) };
  return range.first <= range.last ? range : undefined;
}

type EndReason = 'caller_left' | 'too_slow';

/** Aborts when the caller has left, or when a step or the whole takes too long. */
class TimeLimits {
  readonly #end = new AbortController();
  readonly #whole: NodeJS.Timeout;
  readonly #left: () => void;
  readonly #res: ServerResponse;
  /** Kept because `res.socket` is null once the answer is written. */
  readonly #connection: ServerResponse['socket'];
  #step: NodeJS.Timeout | undefined;
  #reason: EndReason | undefined;

  constructor(res: ServerResponse, wholeMs: number) {
    this.#res = res;
    this.#connection = res.socket;
    this.#left = () => {
      // `close` comes after a complete answer too.
      if (!res.writableFinished) this.#abort('caller_left');
    };
    this.#whole = setTimeout(() => this.#abort('too_slow'), wholeMs);
    // If the caller left during the reads of the store, `close` will not come again.
    if (res.closed || this.#connection?.readableEnded) this.#left();
    else res.once('close', this.#left);
    // A client that ends its side has gone. For other requests it may still wait for an answer (http/server.ts).
    this.#connection?.once('end', this.#left);
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get reason(): EndReason | undefined {
    return this.#reason;
  }

  /** Begins a step that may take this long, and ends the one before. */
  allow(ms: number): void {
    clearTimeout(this.#step);
    this.#step = setTimeout(() => this.#abort('too_slow'), ms);
  }

  /** Restarts the step's time. */
  goesOn(): void {
    this.#step?.refresh();
  }

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
