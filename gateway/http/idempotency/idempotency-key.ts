/** Longest key, without its quotes. */
const CHARACTERS_MAX = 255;

/**
 * Parses the header `Idempotency-Key`: a structured-field string (RFC 9651 §3.3.3, `"8e03…"`) or, as many clients
 * send it, the bare text. Both forms of a key are the same key: 1 to 255 visible ASCII characters. Undefined for
 * anything else.
 */
export function parseIdempotencyKey(header: string): string | undefined {
  const key = header.startsWith('"') ? unquoted(header) : header;
  if (key === undefined || key.length === 0 || key.length > CHARACTERS_MAX) return undefined;
  return /^[\x21-\x7e]+$/.test(key) ? key : undefined;
}

/** In a structured-field string `"` and `\` must be escaped, and nothing else may be. */
function unquoted(text: string): string | undefined {
  const [, inner] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text) ?? [];
  return inner?.replaceAll(/\\(["\\])/g, '$1');
}
