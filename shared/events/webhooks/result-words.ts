/** Results of a post that brought no HTTP status, in words for customers (posting/post.ts). */
const WORDS: Readonly<Record<string, string>> = {
  timeout: 'Your server did not answer in time. Answer 2xx first, then process the event.',
  dns_failed: 'The host name of the address could not be resolved. Check its DNS records.',
  connect_timeout: 'Your server could not be reached in time. Check its firewall.',
  connect_failed: 'Your server refused the connection. Check that it runs and listens on this port.',
  tls_failed: 'The certificate or the TLS settings of your server were not accepted.',
  connection_lost: 'Your server closed the connection before it answered.',
  bad_answer: 'Your server answered something that is not HTTP.',
  answer_too_long: 'Your server answered more than 16 KB before its status was complete.',
  too_many_interim_answers: 'Your server sent too many interim answers (1xx).',
  refused_address: 'The address leads to a private or reserved address. Nothing was posted.',
  refused_url: 'The address may not be used any more. Register one that begins with https://.',
  no_header: 'A secret header of the webhook cannot be read. Enter its value again.',
  no_secret: 'The secret of the webhook cannot be read. Rotate it: only the new one signs then.',
};

/**
 * The specification says: "A receiving handler answers with HTTP 200 to acknowledge" (Events). Every 2xx counts as success, a
 * redirect does not.
 */
export function isAcknowledged(result: number | string): boolean {
  return typeof result === 'number' && result >= 200 && result < 300;
}

/** Whether a post was acknowledged, and else why not. */
export function resultWords(result: number | string): string {
  if (typeof result === 'string') return WORDS[result] ?? 'The post failed.';
  if (isAcknowledged(result)) return 'Your server acknowledged the event.';
  if (result >= 300 && result < 400) return `Your server answered ${result}, a redirect. Redirects are not followed.`;
  if (result === 410) return 'Your server answered 410 Gone, which disables the webhook.';
  return `Your server answered ${result}.`;
}

/** Why an endpoint is disabled. `reason` is what ops, the API or the webhook worker stored. */
export function disabledWords(reason: string | undefined): string {
  if (reason === 'account') return 'It was disabled on the dashboard or by the API.';
  if (reason === undefined || reason === 'operator') return 'Your service provider disabled it.';
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}
