import type { IncomingHttpHeaders } from 'node:http';
import { type AddressGuard, RefusedAddress } from '../../../shared/events/webhooks/address-guard.ts';
import { failureCode } from '../../../shared/events/webhooks/posting/failure-code.ts';
import { type Opened, openGet } from '../../../shared/events/webhooks/posting/guarded-get.ts';

/** `passes`: it may go better the next time. `reason`: for who gave the address. */
export type Download =
  | { readonly kind: 'file'; readonly bytes: Buffer }
  | { readonly kind: 'failed'; readonly reason: string; readonly passes: boolean };

interface DownloadOptions {
  readonly guard: AddressGuard;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/** Limit of a download as a whole. */
const DOWNLOAD_MS = 30_000;
/** Errors of a client that pass by themselves: timeout, too early, too many requests (RFC 9110 §15.5). */
const PASSING: readonly number[] = [408, 425, 429];

/** Reads a file from an address of a customer. Never rejects. */
export async function download(url: string, { guard, bytesMax, signal }: DownloadOptions): Promise<Download> {
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
