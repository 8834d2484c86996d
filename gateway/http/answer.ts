import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Request } from 'express';
import helmet from 'helmet';
import type { Reply } from './context.ts';
import { PROBLEMS, type ProblemDetails, type ProblemSlug, problemBody } from './problem.ts';

/** Directives of a content security policy, as helmet takes them. */
export type Policy = Readonly<Record<string, readonly string[]>>;

/** Browsers render no answer of the API, so its policy is the strictest. */
const NOTHING: Policy = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };

/**
 * Helmet's headers as a flat list of names and values, for `writeHead`. Every answer has the same, so helmet runs once;
 * as a middleware it would set a dozen headers for each request.
 */
function securityHeaders(policy = NOTHING): readonly string[] {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  const directives = Object.fromEntries(Object.entries(policy).map(([name, values]) => [name, [...values]]));
  const protect = helmet({ contentSecurityPolicy: { useDefaults: false, directives } });
  protect(req, res, (error) => {
    if (error !== undefined) throw error;
  });
  return Object.entries(res.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
}

/** Only this file writes answers: their headers, bodies, and what happens to an unread request body. */
export function sendJson(res: Reply, body: object): void {
  sendJsonText(res, 200, JSON.stringify(body));
}

/** `json`: text or bytes. `headers`: names and values in turn, as for `writeHead`. */
export function sendJsonText(res: Reply, status: number, json: string | Buffer, headers: readonly string[] = []): void {
  answer(res, status, 'application/json; charset=utf-8', json, headers);
}

export function sendText(res: Reply, contentType: string, text: string): void {
  answer(res, 200, contentType, text);
}

/** A file to download. `name` has only letters, digits, dots, hyphens and underscores. */
export function sendFile(res: Reply, contentType: string, name: string, text: string | Buffer): void {
  answer(res, 200, contentType, text, ['Content-Disposition', `attachment; filename="${name}"`]);
}

/** `headers` come from `policyHeaders`. */
export function sendPage(res: Reply, html: string | Buffer, headers: readonly string[]): void {
  answer(res, 200, 'text/html; charset=utf-8', html, [], headers);
}

export function sendRedirect(res: Reply, location: string): void {
  answer(res, 302, 'text/plain; charset=utf-8', '', ['Location', location]);
}

/** A file that is the same for everybody and never changes. `headers` say so, and how it is compressed. */
export function sendBytes(res: Reply, contentType: string, bytes: Buffer, headers: readonly string[]): void {
  answer(res, 200, contentType, bytes, headers, SECURITY_HEADERS);
}

/** The caller already has the current version. `headers`: those of the whole answer (RFC 9110 §15.4.5). */
export function sendNotModified(res: Reply, headers: readonly string[]): void {
  const { requestId, answered, rateHeaders } = res.locals;
  res.writeHead(304, [...SECURITY_HEADERS, 'X-Request-Id', requestId, ...rateHeaders, ...headers]).end();
  answered(res, 304);
}

/**
 * Begins an answer of unknown length: writes the head; the endpoint writes the body in pieces and ends it. `headers`:
 * names and values in turn.
 */
export function beginStream(
  res: Reply,
  contentType: string,
  headers: readonly string[],
  { status = 200, common = COMMON_HEADERS }: { readonly status?: 200 | 206; readonly common?: readonly string[] } = {},
): void {
  const { requestId, answered, rateHeaders } = res.locals;
  const own = ['Content-Type', contentType, 'X-Request-Id', requestId];
  res.writeHead(status, [...common, ...own, ...rateHeaders, ...headers]);
  answered(res, status);
}

export interface ProblemAnswer extends ProblemDetails {
  /** Names and values in turn. */
  readonly headers?: readonly string[];
}

export function sendProblem(res: Reply, slug: ProblemSlug, more: ProblemAnswer = {}): void {
  const body = problemBody(slug, res.locals.requestId, more);
  answer(res, PROBLEMS[slug].status, PROBLEM_TYPE, JSON.stringify(body), more.headers);
}

/** Seconds. The driver has looked for the store for some seconds already when this is sent. */
export const RETRY_AFTER = ['Retry-After', '2'] as const;

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

const SECURITY_HEADERS = securityHeaders();

/** No cache may keep an answer: it belongs to one account and changes. */
export const COMMON_HEADERS: readonly string[] = [...SECURITY_HEADERS, 'Cache-Control', 'no-store'];

export function policyHeaders(policy: Policy): readonly string[] {
  return [...securityHeaders(policy), 'Cache-Control', 'no-store'];
}

function answer(
  res: Reply,
  status: number,
  contentType: string,
  text: string | Buffer,
  extraHeaders: readonly string[] = [],
  commonHeaders: readonly string[] = COMMON_HEADERS,
): void {
  const { requestId, stopping, answered, rateHeaders } = res.locals;
  const unread = hasUnreadBody(res.req);
  const headers = [
    ...commonHeaders,
    'Content-Type',
    contentType,
    'Content-Length',
    String(Buffer.byteLength(text)),
    'X-Request-Id',
    requestId,
    ...rateHeaders,
    ...extraHeaders,
  ];
  if (unread || stopping.aborted) headers.push('Connection', 'close');
  // One flat list, and no header set before: so Node writes the head without building a table of headers.
  res.writeHead(status, headers);
  if (unread) linger(res, text);
  else res.end(text);
  answered(res, status);
}

/** Node drops unread bodies up to this size, and the connection stays open. */
const DROPPED_BYTES_MAX = 65_536;

/** Whether the connection must end: much of the body is still to come, or it is uncertain whether it comes. */
function hasUnreadBody(req: Request): boolean {
  if (req.complete) return false;
  const { headers } = req;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = Number(headers['content-length'] ?? 0);
  // A caller that waits for "100 Continue" may now send the body or leave it out: we cannot tell which.
  return length > DROPPED_BYTES_MAX || (length > 0 && headers.expect !== undefined);
}

const LINGER_MS = 1_000;
const LINGER_BYTES = 8_388_608;

/**
 * Writes the answer, but closes the connection only after the caller has stopped sending: closing a socket with unread
 * data resets it, and the answer could be lost. Bytes that arrive meanwhile are dropped, within limits.
 */
function linger(res: Reply, text: string | Buffer): void {
  let bytesLeft = LINGER_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    res.req.off('data', drop);
    res.end();
  };
  const drop = (chunk: Buffer): void => {
    bytesLeft -= chunk.length;
    if (bytesLeft < 0) finish();
  };
  const timer = setTimeout(finish, LINGER_MS);
  res.req.on('data', drop).once('end', finish).once('error', finish);
  res.write(text);
}

/** gzip is named, and not with `q=0` (RFC 9110 §12.5.3). */
export function takesGzip({ headers }: Request): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(headers['accept-encoding'] ?? ''));
}
