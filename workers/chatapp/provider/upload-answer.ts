import type { Exchange } from '../../../shared/carriers/http/client.ts';
import { objectOf, parseObject } from '../../../shared/carriers/providers/graph-error.ts';
import { judgeTemplateAnswer } from './template-answer.ts';

/** What the provider said to a part of an upload (Graph API, "Resumable Upload API"). */
export type UploadVerdict =
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

/** Whether an id of an upload session may become a part of the address. */
function isSession(id: string): boolean {
  return /^upload:[\x21-\x7e]+$/.test(id);
}

function refused(words: string): UploadVerdict {
  return { kind: 'refused', reason: `The provider refused the file of the header: ${words}`.slice(0, 500) };
}
