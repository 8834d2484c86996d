import type { Request } from 'express';

/** Whether the caller can read gzip: it is named, and not with `q=0` (RFC 9110 §12.5.3). */
export function takesGzip({ headers }: Request): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(headers['accept-encoding'] ?? ''));
}
