import type { CommandStatusClass } from '../../../shared/carriers/command-status.ts';
import type { Exchange } from '../../../shared/carriers/http/client.ts';
import { readTree, wordsAt } from '../../../shared/carriers/http/places.ts';
import { type AnswerMeaning, HTTP, type HttpSettings } from '../../../shared/carriers/settings/http.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { type CarrierAnswer, CLASSES } from '../session/carrier-answer.ts';

const MEANINGS: Readonly<Record<AnswerMeaning['means'], CommandStatusClass>> = { accepted: 'accepted', ...CLASSES };

/** The longest message_id of SMPP 3.4, which keys of messages keep (dialect/message-ids.ts). */
const MAX_ID = 65;
const MAX_CODE = 40;

/**
 * Reads the answers of an HTTP carrier: its own codes as its settings say, then the HTTP status. Undefined when nobody knows whether the
 * carrier took the message: a success without an id, or a proxy's 502 or 504, which passed the request on and got nothing back (RFC 9110
 * §15.6).
 */
export function httpAnswers(
  settings: Partial<HttpSettings> | undefined,
): (answer: Extract<Exchange, { readonly kind: 'answered' }>) => CarrierAnswer | undefined {
  const { answerId, answerCode, answerClass } = withDefaults(HTTP, settings);
  const meanings = new Map(answerClass.map((one) => [one.code, one]));
  return ({ status, body, retryAfterMs }) => {
    const tree = readTree(body);
    const codes = wordsAt(tree, answerCode, MAX_CODE);
    const plain = `http_${status}`;
    const known = [...codes, plain].map((code) => meanings.get(code)).find((one) => one !== undefined);
    const meaning = known === undefined ? classOf(status) : MEANINGS[known.means];
    const [messageId = ''] = meaning === 'accepted' ? wordsAt(tree, answerId, MAX_ID) : [];
    if (meaning === undefined || (meaning === 'accepted' && messageId === '' && known === undefined)) return undefined;
    const code = codes[0] ?? plain;
    const wants = meaning === 'throttled' || meaning === 'retry' ? retryAfterMs : undefined;
    const pauseMs = known?.pauseSeconds === undefined ? wants : known.pauseSeconds * 1_000;
    return {
      meaning,
      code,
      // Not in its own words: they may quote the number and the text.
      reason: `The carrier answered HTTP ${status}${code === plain ? '' : `, code ${code}`}`,
      messageId,
      ...(pauseMs === undefined ? {} : { pauseMs }),
      ...(meaning === 'throttled' || status === 429 ? { isBusy: true } : {}),
    };
  };
}

/**
 * What a status means by itself. Redirects (never followed), 401, 403, 404 and 405 concern our settings, so every message would get them.
 * 5xx is the carrier's own statement that it failed.
 */
function classOf(status: number): CommandStatusClass | undefined {
  if (status >= 200 && status < 300) return 'accepted';
  if (status === 502 || status === 504) return undefined;
  if (status === 429) return 'throttled';
  if (status >= 500 || status === 408 || status === 425) return 'retry';
  if (status < 400 || [401, 403, 404, 405].includes(status)) return 'bind';
  return 'rejected';
}
