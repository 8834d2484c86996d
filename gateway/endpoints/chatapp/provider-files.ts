import type { Readable } from 'node:stream';
import { errorRule, graphErrorOf, parseObject } from '../../../shared/carriers/providers/graph-error.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { AddressGuard, type GuardOptions, RefusedAddress } from '../../../shared/events/webhooks/address-guard.ts';
import { type Opened, openGet } from '../../../shared/events/webhooks/connect.ts';
import { failureCode } from '../../../shared/events/webhooks/post.ts';
import type { GatewayDeps } from '../../http/deps.ts';

type Provider = Pick<ProviderDocument, '_id' | 'account' | 'baseUrl' | 'phoneNumberId' | 'token'>;

export interface OpenFile {
  readonly kind: 'open';
  readonly body: Readable;
  /** Undefined if the length is not announced. */
  readonly bytes: number | undefined;
  close(): Promise<void>;
}

/** The answer has some hundred bytes, but a proxy's error page can be long. */
const LOOK_UP_BYTES_MAX = 65_536;

/**
 * Reads customers' files from the provider (WhatsApp Cloud API, "Media"): `GET /{media_id}` returns a URL, valid for
 * five minutes. The token goes to these two and to `GET /{phone_number_id}` only: redirects are not followed. The
 * operator chose the base URL; any other host is the provider's choice and must be public.
 */
export class ProviderFiles {
  readonly #box: GatewayDeps['box'];
  readonly #own: AddressGuard;
  readonly #others: AddressGuard;

  constructor(box: GatewayDeps['box'], guard: GuardOptions) {
    this.#box = box;
    this.#own = new AddressGuard({ ...guard, allowHttp: true, allowSubnets: ['0.0.0.0/0', '::/0'] });
    this.#others = new AddressGuard(guard);
  }

  /** Rejects only if the token cannot be decrypted. */
  async locate(provider: Provider, mediaId: string, signal: AbortSignal): Promise<Located | NoFile> {
    const { phoneNumberId } = provider;
    const query = new URLSearchParams({ phone_number_id: phoneNumberId });
    const located = await this.#ask(provider, `${mediaId}?${query}`, judgeLookUp, signal);
    return located === NO_SUCH_FILE ? this.#ask(provider, `${phoneNumberId}?fields=id`, judgeNumber, signal) : located;
  }

  /** Never rejects. The signal also ends the body. */
  async open(provider: Provider, located: Located, signal: AbortSignal): Promise<OpenFile | NoFile> {
    const { url, bytes: promised } = located;
    const isOwn = new URL(url).origin === new URL(provider.baseUrl).origin;
    const guard = isOwn ? this.#own : this.#others.for(provider.account);
    if (!guard.checkForm(url).ok) return { kind: 'unusable', code: 'address_not_allowed' };
    const opened = await this.#get(url, guard, provider, FILE_BYTES_MAX, signal);
    if ('kind' in opened) return opened;
    const { status, headers, body, close } = opened;
    const { 'content-length': length, 'content-encoding': coding, 'retry-after': retryAfter } = headers;
    const said = { ...(length && { length }), ...(coding && { coding }), ...(retryAfter && { retryAfter }) };
    const refused = judgeFile(status, said, promised);
    if (refused === undefined) return { kind: 'open', body, bytes: bytesOf(length) ?? promised, close };
    await close();
    return refused;
  }

  async #ask(
    provider: Provider,
    path: string,
    judge: typeof judgeLookUp,
    signal: AbortSignal,
  ): Promise<Located | NoFile> {
    const opened = await this.#get(`${provider.baseUrl}/${path}`, this.#own, provider, LOOK_UP_BYTES_MAX, signal);
    if ('kind' in opened) return opened;
    try {
      const body = Buffer.concat(await opened.body.toArray({ signal }));
      return judge(opened.status, body, opened.headers['retry-after']);
    } catch (error) {
      return failed(error, signal);
    } finally {
      await opened.close();
    }
  }

  async #get(
    url: string,
    guard: AddressGuard,
    { _id, token }: Provider,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<Opened | NoFile> {
    const headers = { authorization: `Bearer ${this.#box.open(token, ['providers', _id, 'token'])}` };
    try {
      return await openGet(url, { guard, bytesMax, headers, signal });
    } catch (error) {
      return failed(error, signal);
    }
  }
}

function failed(error: unknown, signal: AbortSignal): NoFile {
  if (error instanceof RefusedAddress) return { kind: 'unusable', code: 'address_not_allowed' };
  return { kind: 'later', code: signal.aborted ? 'timeout' : failureCode(error) };
}

export interface Located {
  readonly kind: 'located';
  readonly url: string;
  readonly mime: string | undefined;
  readonly bytes: number | undefined;
}

/**
 * Why there is no file. `gone`: the provider no longer has it · `refused`: the provider rejects the account or its
 * token · `unusable`: the file may not be passed on · `later`: a retry may succeed. `code` is for operators.
 */
export interface NoFile {
  readonly kind: 'gone' | 'refused' | 'unusable' | 'later';
  readonly code: string;
  readonly retryAfterS?: number;
}

/** The provider's largest files are documents of 100 MB (WhatsApp Cloud API, "Supported media types"). */
export const FILE_BYTES_MAX = 104_857_600;
/** "Media download error: unable to download the media sent by the user". */
const NOT_DOWNLOADED = 131_052;
/** "Invalid request or possible server error". */
const EITHER_FAULT = 1;
/** Timeout, too early, too many requests (RFC 9110 §15.5). */
const PASSING: readonly number[] = [408, 425, 429];
const RETRY_AFTER_MAX_S = 300;
/** The file is gone, or the token or number is wrong: `judgeNumber` finds out. */
const NO_SUCH_FILE: NoFile = { kind: 'gone', code: 'provider_100' };
const TOO_LARGE: NoFile = { kind: 'unusable', code: 'too_large' };

/** Judges the answer to `GET /{media_id}`. Pure. */
export function judgeLookUp(status: number, body: Buffer, retryAfter?: string): Located | NoFile {
  const object = parseObject(body);
  if (status === 200) {
    const { url, mime_type: mime, file_size: size } = object ?? {};
    if (typeof url !== 'string' || !URL.canParse(url)) return { kind: 'later', code: 'unreadable_answer' };
    const bytes = bytesOf(size);
    if (bytes !== undefined && bytes > FILE_BYTES_MAX) return TOO_LARGE;
    return { kind: 'located', url, mime: typeof mime === 'string' ? mime : undefined, bytes };
  }
  const error = graphErrorOf(object);
  if (error?.noSuchObject) return NO_SUCH_FILE;
  if (error?.code === NOT_DOWNLOADED) return { kind: 'gone', code: `provider_${error.code}` };
  const rule = error === undefined ? undefined : errorRule(error.code);
  const passes = error?.isTransient || error?.code === EITHER_FAULT || status >= 500 || PASSING.includes(status);
  if (rule?.do === 'back_off' || rule?.do === 'retry' || (rule === undefined && passes)) {
    return later(rule?.code ?? `http_${status}`, retryAfter);
  }
  return { kind: 'refused', code: rule?.code ?? (isDenial(status) ? 'provider_access_denied' : `http_${status}`) };
}

/**
 * Judges the answer to `GET /{phone_number_id}`, which is requested when a file "does not exist, or not for you". If
 * the number gets the same answer, the settings are wrong and the file may well be there. Pure.
 */
export function judgeNumber(status: number, body: Buffer, retryAfter?: string): Located | NoFile {
  if (status === 200) return NO_SUCH_FILE;
  const why = judgeLookUp(status, body, retryAfter);
  if (why === NO_SUCH_FILE) return { kind: 'refused', code: 'provider_access_denied' };
  return why.kind === 'later' ? why : NO_SUCH_FILE;
}

/** Judges the head of the file's answer. Undefined when the file follows. Pure. */
export function judgeFile(
  status: number,
  { length, coding, retryAfter }: { readonly length?: string; readonly coding?: string; readonly retryAfter?: string },
  promised: number | undefined,
): NoFile | undefined {
  if (status === 404 || status === 410) return { kind: 'gone', code: `file_http_${status}` };
  if (isDenial(status)) return { kind: 'refused', code: 'provider_access_denied' };
  if (status >= 500 || PASSING.includes(status)) return later(`file_http_${status}`, retryAfter);
  if (status >= 300 && status < 400) return { kind: 'unusable', code: 'redirect' };
  if (status !== 200) return { kind: 'unusable', code: `file_http_${status}` };
  // No compression was requested: passed on, the file would differ from what the caller expects.
  if (coding !== undefined && coding !== 'identity') return { kind: 'unusable', code: 'content_coding' };
  const bytes = bytesOf(length);
  if (bytes !== undefined && bytes > FILE_BYTES_MAX) return TOO_LARGE;
  const differ = bytes !== undefined && promised !== undefined && bytes !== promised;
  return differ ? { kind: 'later', code: 'wrong_length' } : undefined;
}

/** A number, or a string of digits: the Cloud API's examples have both. */
function bytesOf(value: unknown): number | undefined {
  const bytes = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : undefined;
}

function isDenial(status: number): boolean {
  return status === 401 || status === 403;
}

function later(code: string, retryAfter: string | undefined): NoFile {
  const seconds = bytesOf(retryAfter);
  return { kind: 'later', code, ...(seconds ? { retryAfterS: Math.min(seconds, RETRY_AFTER_MAX_S) } : {}) };
}
