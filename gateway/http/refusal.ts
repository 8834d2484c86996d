import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { COMMON_HEADERS, PROBLEM_TYPE } from './answer.ts';
import type { Reply } from './context.ts';
import { PROBLEMS, type ProblemSlug, problemBody } from './problem.ts';

/** How long a refused connection stays open so that its answer can arrive. */
const REFUSED_MS = 1_000;

/**
 * Ends a connection whose bytes Node's parser refused, or that took too long to send a request. Such bytes never
 * become a request, but they are answered in the same form as everything else. `pending`: the answer that the
 * connection waits for.
 */
export function refuse(error: Error, connection: Duplex, pending: ServerResponse | undefined): void {
  if (pending?.req.complete) {
    // An earlier request of this connection is still being answered. An answer now would be taken for the answer to
    // that one.
    pending.once('close', () => connection.destroy());
  } else if (!connection.writable || isReset(error)) {
    connection.destroy();
  } else if (pending?.headersSent) {
    // The headers were refused, and that answer is written but may not be sent yet. The broken body does not matter any more.
    pending.end();
    destroyAfterAnswer(connection);
  } else {
    connection.end(rawProblem(slugOf(error), rateHeadersOf(pending)));
    destroyAfterAnswer(connection);
  }
}

/**
 * Closing at once, with the rest of the broken request unread, would reset the connection before the caller sees the
 * answer.
 */
function destroyAfterAnswer(connection: Duplex): void {
  setTimeout(() => connection.destroy(), REFUSED_MS).unref();
}

/** The headers of a request that was counted before its body broke or came too late. */
function rateHeadersOf(pending: (ServerResponse & Partial<Pick<Reply, 'locals'>>) | undefined): readonly string[] {
  return pending?.locals?.rateHeaders ?? [];
}

function isReset(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNRESET';
}

function slugOf(error: Error): ProblemSlug {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'body_too_large';
  return 'malformed_request';
}

/** `extraHeaders`: names and values in turn. */
function rawProblem(slug: ProblemSlug, extraHeaders: readonly string[]): string {
  const requestId = newId('req');
  const { status, title } = PROBLEMS[slug];
  const body = JSON.stringify(problemBody(slug, requestId));
  const lines = [`HTTP/1.1 ${status} ${title}`];
  const headers = [...COMMON_HEADERS, ...extraHeaders];
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push(
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  );
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
