/** The delivery log's word for a post without an HTTP status, by the error's code. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|EREFUSED|ETIMEOUT|EBADRESP|ECANCELLED|EBADNAME)/, 'dns_failed'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'connect_timeout'],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/, 'connect_failed'],
  [/^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_OSSL_|EPROTO)/, 'tls_failed'],
  [/^(UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_DESTROYED|UND_ERR_CLOSED)$/, 'connection_lost'],
  [/^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/, 'bad_answer'],
  [/^ANSWER_TOO_LONG$/, 'answer_too_long'],
];

export function failureCode(error: unknown): string {
  // Errors of undici's parser always have a name, but not always a code.
  const code = error instanceof Error ? String(('code' in error && error.code) || error.name) : '';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'failed';
}
