import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/**
 * Whether a request that changes something comes from our own pages, and not from another site in the same browser. Only for
 * requests that a cookie authenticates (OWASP CSRF Prevention Cheat Sheet, "Fetch Metadata headers"). Browsers send
 * Sec-Fetch-Site over TLS and to this machine; elsewhere the Origin decides. It is compared with the public address, or with the
 * address that the connection came in at, never with `Host`, which the caller writes.
 */
export function isSameOrigin({ method = '', headers, socket }: IncomingMessage, publicUrl: string): boolean {
  if (READS.has(method)) return true;
  // No form can send this header, and a script of another site would need our permission by CORS, which nobody gets.
  if (headers['x-dashboard'] !== '1') return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  if (origin === undefined) return false;
  if (publicUrl !== '') return origin === new URL(publicUrl).origin;
  const { localAddress = '', localPort } = socket;
  const scheme = (socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http';
  const hosts = LOOPBACK.test(localAddress) ? ['127.0.0.1', 'localhost', '[::1]'] : [hostOf(localAddress)];
  return hosts.some((host) => origin === `${scheme}://${host}:${localPort}`);
}

function hostOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}
