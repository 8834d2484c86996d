import type { Readable } from 'node:stream';
import type { ProviderDocument } from '../../../../shared/carriers/providers/provider.ts';
import { AddressGuard, type GuardOptions, RefusedAddress } from '../../../../shared/events/webhooks/address-guard.ts';
import { type Opened, openGet } from '../../../../shared/events/webhooks/posting/guarded-get.ts';
import { failureCode } from '../../../../shared/events/webhooks/posting/post.ts';
import type { GatewayDeps } from '../../../http/deps.ts';
import {
  bytesOf,
  FILE_BYTES_MAX,
  judgeFile,
  judgeLookUp,
  judgeNumber,
  type Located,
  NO_SUCH_FILE,
  type NoFile,
} from './judge.ts';

type Provider = Pick<ProviderDocument, '_id' | 'account' | 'baseUrl' | 'phoneNumberId' | 'token'>;

/** A file whose head has come. */
export interface OpenFile {
  readonly kind: 'open';
  readonly body: Readable;
  /** Undefined if nobody says how long it is. */
  readonly bytes: number | undefined;
  close(): Promise<void>;
}

/** The answer has some hundred bytes, but a proxy's error page can be long. */
const LOOK_UP_BYTES_MAX = 65_536;

/**
 * Reads customers' files from the account's provider (WhatsApp Cloud API, "Media"): `GET /{media_id}` tells an address that lives
 * five minutes, and that has the bytes. The token goes to these and to `GET /{phone_number_id}`, and nowhere else: redirects are
 * not followed. The operator has chosen the base URL, as for sends; another host is the provider's choice and must be public.
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

  /** Never rejects, but for a token that cannot be decrypted. */
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
