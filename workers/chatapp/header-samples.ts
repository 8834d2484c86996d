import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../../shared/carriers/http/client.ts';
import { objectOf, parseObject } from '../../shared/carriers/providers/graph-error.ts';
import { type AddressGuard, RefusedAddress } from '../../shared/events/webhooks/address-guard.ts';
import { type Opened, openGet } from '../../shared/events/webhooks/connect.ts';
import { failureCode } from '../../shared/events/webhooks/post.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { MediaHeader } from '../../shared/templates/chat/chat-template.ts';
import type { ProviderClient } from './provider/client.ts';
import { judgeTemplateAnswer } from './provider/template-request.ts';

interface GivenSample {
  readonly account: AccountId;
  readonly format: MediaHeader;
  readonly url: string;
  readonly tries: number;
}

type SampleVerdict =
  | UploadVerdict
  /** The account's file could not be read. An operator cannot help that. */
  | { readonly kind: 'unread'; readonly reason: string };

/** Files in memory at once, of all accounts. */
const AT_ONCE = 4;
/** After this many tries, with growing pauses, the request is refused because the file cannot be read. */
const TRIES_MAX = 5;

/** For a new template a provider takes only the handle of an upload (docs/decisions/0018). Handles are cheap. */
export class HeaderSamples {
  readonly #guard: AddressGuard;
  #inHand = 0;
  /** Requests in order. Each account asks for one file at a time: four slow files cannot keep all places. */
  readonly #waiting = new Set<() => void>();

  constructor(guard: AddressGuard) {
    this.#guard = guard;
  }

  /** The file's handle. Never rejects. `signal` ends it early, with `unread` or `later`. */
  async handOver(given: GivenSample, client: ProviderClient, signal: AbortSignal): Promise<SampleVerdict> {
    await this.#turn(signal);
    try {
      return await this.#handOver(given, client, signal);
    } finally {
      this.#inHand -= 1;
      const [next] = this.#waiting;
      // A request that ended while it waited had no place to give away.
      if (this.#inHand < AT_ONCE) next?.();
    }
  }

  /** Resolves with a place; after an abort without one, because nothing is read then. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const begin = () => {
        this.#waiting.delete(begin);
        signal.removeEventListener('abort', begin);
        this.#inHand += 1;
        resolve();
      };
      if (this.#inHand < AT_ONCE) return begin();
      this.#waiting.add(begin);
      signal.addEventListener('abort', begin);
    });
  }

  async #handOver({ account, format, url, tries }: GivenSample, client: ProviderClient, signal: AbortSignal) {
    const { bytesMax, takes } = SAMPLE_RULES[format];
    const read = await download(url, { guard: this.#guard.for(account), bytesMax, signal });
    if (read.kind === 'failed') {
      const reason = `The file of the header could not be used. ${read.reason}`;
      const again = signal.aborted || (read.passes && tries + 1 < TRIES_MAX);
      return { kind: again ? 'unread' : 'refused', reason } as const;
    }
    const type = sampleType(format, read.bytes);
    if (type === undefined) {
      return { kind: 'refused', reason: `The file of the header could not be used. It is not ${takes}.` } as const;
    }
    const session = judgeUpload(await client.startUpload(type, read.bytes.length, signal), 'id');
    if (session.kind !== 'done') return session;
    return judgeUpload(await client.upload(session.value, read.bytes, signal), 'h');
  }
}

/** A type of file that the provider's upload takes (Graph API, "Resumable Upload API"). */
interface SampleType {
  readonly mime: string;
  readonly name: string;
}

interface SampleRule {
  /** Shown to the account when its file does not fit. */
  readonly takes: string;
  readonly bytesMax: number;
  readonly types: readonly (SampleType & { readonly begins: Buffer; readonly at?: number })[];
}

const MB = 1_048_576;
const JPEG = { mime: 'image/jpeg', name: 'sample.jpg', begins: Buffer.from('ffd8ff', 'hex') };
const PNG = { mime: 'image/png', name: 'sample.png', begins: Buffer.from('89504e470d0a1a0a', 'hex') };
/** ISO/IEC 14496-12 §4.3: a size of four bytes stands before it. */
const MP4 = { mime: 'video/mp4', name: 'sample.mp4', begins: Buffer.from('ftyp'), at: 4 };
const PDF = { mime: 'application/pdf', name: 'sample.pdf', begins: Buffer.from('%PDF-') };

/** WhatsApp Cloud API, "Supported media types". The provider takes documents of 100 MB, too much for our memory. */
const SAMPLE_RULES: Readonly<Record<MediaHeader, SampleRule>> = {
  image: { takes: 'a JPEG or PNG image', bytesMax: 5 * MB, types: [JPEG, PNG] },
  video: { takes: 'an MP4 video', bytesMax: 16 * MB, types: [MP4] },
  document: { takes: 'a PDF document', bytesMax: 16 * MB, types: [PDF] },
};

/** By the first bytes, because servers often name another type. Undefined when the file fits no such header. */
function sampleType(format: MediaHeader, bytes: Buffer): SampleType | undefined {
  return SAMPLE_RULES[format].types.find(({ begins, at = 0 }) => bytes.subarray(at, at + begins.length).equals(begins));
}

type UploadVerdict =
  | { readonly kind: 'done'; readonly value: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The upload is tried again from the beginning. `reason`: for the operator. */
  | { readonly kind: 'later'; readonly reason: string };

/** Sessions and handles are opaque texts of some hundred characters. */
const VALUE_MAX = 4_096;
const NO_ACCESS = 'there is no such app id, or the access token may not upload to it';

/** Judges the answer that has the session's `id`, or the file's handle `h`. Pure. */
export function judgeUpload(exchange: Exchange, member: 'id' | 'h'): UploadVerdict {
  if (exchange.kind === 'answered' && exchange.status >= 200 && exchange.status < 300) {
    const value = parseObject(exchange.body)?.[member];
    const fits = typeof value === 'string' && value.length <= VALUE_MAX && (member === 'h' || isSession(value));
    return fits && value !== ''
      ? { kind: 'done', value }
      : { kind: 'later', reason: 'the answer of the provider to an upload cannot be read' };
  }
  // The servers that take the bytes have an error shape of their own, beside that of the Graph API.
  const info = exchange.kind === 'answered' ? objectOf(parseObject(exchange.body)?.debug_info) : undefined;
  if (info?.retriable === false) return refused(String(info.message ?? info.type));
  const verdict = judgeTemplateAnswer(exchange);
  if (verdict.kind === 'no_access') return { kind: 'later', reason: NO_ACCESS };
  return verdict.kind === 'later' ? verdict : refused('reason' in verdict ? verdict.reason : '');
}

/** Whether an upload session's id may become a part of the address. */
function isSession(id: string): boolean {
  return /^upload:[\x21-\x7e]+$/.test(id);
}

function refused(words: string): UploadVerdict {
  return { kind: 'refused', reason: `The provider refused the file of the header: ${words}`.slice(0, 500) };
}

/** `passes`: a later try may succeed. `reason`: for the account that gave the address. */
type Download =
  | { readonly kind: 'file'; readonly bytes: Buffer }
  | { readonly kind: 'failed'; readonly reason: string; readonly passes: boolean };

interface DownloadOptions {
  readonly guard: AddressGuard;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

const DOWNLOAD_MS = 30_000;
/** Client errors that pass by themselves: timeout, too early, too many requests (RFC 9110 §15.5). */
const PASSING: readonly number[] = [408, 425, 429];

/** Reads a file from an address of a customer. Never rejects. */
async function download(url: string, { guard, bytesMax, signal }: DownloadOptions): Promise<Download> {
  const form = guard.checkForm(url);
  if (!form.ok) return failed(form.detail, false);
  const inTime = AbortSignal.timeout(DOWNLOAD_MS);
  let opened: Opened | undefined;
  try {
    opened = await openGet(url, { guard, bytesMax, signal: AbortSignal.any([signal, inTime]) });
    const { status, headers, body } = opened;
    if (status !== 200) return refusedStatus(status);
    if (lengthOf(headers) > bytesMax) return tooLarge(bytesMax);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bytesMax) return tooLarge(bytesMax);
      chunks.push(chunk);
    }
    return { kind: 'file', bytes: Buffer.concat(chunks, length) };
  } catch (error) {
    if (error instanceof RefusedAddress) return failed('Its address is private or reserved.', false);
    const code = inTime.aborted ? 'timeout' : failureCode(error);
    return code === 'answer_too_long' ? tooLarge(bytesMax) : failed(`It could not be read (${code}).`, true);
  } finally {
    await opened?.close();
  }
}

function refusedStatus(status: number): Download {
  const isRedirect = status >= 300 && status < 400;
  const hint = isRedirect ? ' Give the address that it leads to.' : '';
  return failed(`Its address answers HTTP ${status}.${hint}`, status >= 500 || PASSING.includes(status));
}

function tooLarge(bytesMax: number): Download {
  return failed(`It has more than ${Math.floor(bytesMax / 1_048_576)} MB.`, false);
}

function failed(reason: string, passes: boolean): Download {
  return { kind: 'failed', reason, passes };
}

function lengthOf({ 'content-length': length }: IncomingHttpHeaders): number {
  return Number(length ?? 0);
}
