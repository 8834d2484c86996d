import type { Request } from 'express';
import type { Reply } from './context.ts';
import { PROBLEMS, type ProblemDetails, type ProblemSlug, problemBody } from './problem.ts';
import { securityHeaders } from './security-headers.ts';

/** The one place that writes answers: headers, body, and what becomes of a request body that nobody read. */
export function sendJson(res: Reply, status: number, body: object): void {
  sendJsonText(res, status, JSON.stringify(body));
}

/** `headers`: names and values by turns, as `writeHead` takes them. */
export function sendJsonText(res: Reply, status: number, json: string, headers: readonly string[] = []): void {
  answer(res, status, 'application/json; charset=utf-8', json, headers);
}

export function sendText(res: Reply, contentType: string, text: string): void {
  answer(res, 200, contentType, text);
}

/** A page for people, with the headers that `pageHeaders` made for it. */
export function sendPage(res: Reply, html: string, headers: readonly string[]): void {
  answer(res, 200, 'text/html; charset=utf-8', html, [], headers);
}

export interface ProblemAnswer extends ProblemDetails {
  /** Names and values by turns, as `writeHead` takes them. */
  readonly headers?: readonly string[];
}

export function sendProblem(res: Reply, slug: ProblemSlug, more: ProblemAnswer = {}): void {
  const body = problemBody(slug, res.locals.requestId, more);
  answer(res, PROBLEMS[slug].status, PROBLEM_TYPE, JSON.stringify(body), more.headers);
}

/** Seconds. The driver has looked for the store for some seconds already when this is said. */
export const RETRY_AFTER = ['Retry-After', '2'] as const;

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** On every answer. Nothing here may be kept by a cache: it is about one account and changes by itself. */
export const COMMON_HEADERS: readonly string[] = [...securityHeaders(), 'Cache-Control', 'no-store'];

/** The same for a page that has this text, and no other, as its style. */
export function pageHeaders(style: string): readonly string[] {
  return [...securityHeaders(style), 'Cache-Control', 'no-store'];
}

function answer(
  res: Reply,
  status: number,
  contentType: string,
  text: string,
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
  // A flat list and nothing set before: Node then writes the head without building a table of headers.
  res.writeHead(status, headers);
  if (unread) linger(res, text);
  else res.end(text);
  answered(res, status);
}

/** A body up to this size that nobody wants is read and dropped by Node, and the connection serves on. */
const DROPPED_BYTES_MAX = 65_536;

/** Whether so much of the body is still to come, or it is so uncertain whether it comes, that the connection must end. */
function hasUnreadBody(req: Request): boolean {
  if (req.complete) return false;
  const { headers } = req;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = Number(headers['content-length'] ?? 0);
  // Who waits for "100 Continue" may now send the body or leave it out: what follows could not be told apart.
  return length > DROPPED_BYTES_MAX || (length > 0 && headers.expect !== undefined);
}

const LINGER_MS = 1_000;
const LINGER_BYTES = 8_388_608;

/**
 * Writes the answer, but closes only when the caller has stopped sending: closing a socket with unread data resets the
 * connection, and the answer would be lost on its way. What comes meanwhile is dropped unseen, within limits.
 */
function linger(res: Reply, text: string): void {
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
