import type { Exchange } from '../../../shared/carriers/http/client.ts';
import {
  type ErrorDo,
  type ErrorRule,
  errorRule,
  type GraphError,
  graphErrorOf,
  objectOf,
  parseObject,
} from '../../../shared/carriers/providers/graph-error.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';

export type SendVerdict =
  /** `customer`: the provider's number for the customer. `heldBack`: its word for why it does not pass it on yet. */
  | { readonly kind: 'accepted'; readonly upstreamId: string; readonly customer?: string; readonly heldBack?: string }
  /** The provider may have accepted it, or not. */
  | { readonly kind: 'unknown'; readonly code: string }
  /** Nothing of the request was written. */
  | { readonly kind: 'not_sent'; readonly code: string }
  | {
      readonly kind: ErrorDo;
      /** Our own code (graph-error.ts). */
      readonly code: string;
      /** The provider's code and words, for people. */
      readonly reason: string;
      readonly retryAfterMs?: number;
      /** The state that the template gets. */
      readonly template?: string;
      /** Our copy of the template is probably old. */
      readonly copyIsOld?: true;
      /** The refusal is because of the account: other messages would be refused too. */
      readonly accountWide?: true;
      /** A code that we do not know and that forbids the message: perhaps it forbids all. */
      readonly forbids?: number;
    };

/** Ids of messages have some 60 characters. They become part of an index. */
const ID_MAX = 512;
const WORD_MAX = 64;
/** Longer texts of the provider are cut, because they go into the message and its events. */
const REASON_MAX = 500;

/** Pure. */
export function judgeSend(exchange: Exchange): SendVerdict {
  if (exchange.kind !== 'answered') {
    return { kind: exchange.kind === 'not_sent' ? 'not_sent' : 'unknown', code: exchange.code };
  }
  const { status, retryAfterMs } = exchange;
  const body = parseObject(exchange.body);
  if (status >= 200 && status < 300) {
    const upstreamId = messageIdOf(body);
    // The provider accepted it, but we do not have the id that statuses will name.
    if (upstreamId === undefined) return { kind: 'unknown', code: 'unreadable_answer' };
    const customer = customerOf(body);
    return { kind: 'accepted', upstreamId, ...defined({ customer, heldBack: heldBackOf(body) }) };
  }
  const error = graphErrorOf(body);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (error === undefined) {
    const plain = plainStatus(status);
    return plain.kind === 'unknown'
      ? { kind: 'unknown', code: `http_${status}` }
      : { ...plain, reason: `The provider answered HTTP ${status}`, ...wait };
  }
  const rule = error.accessDenied ? ACCESS_DENIED : (errorRule(error.code) ?? unknownCode(status, error));
  return {
    kind: rule.do,
    code: rule.code,
    reason: errorReason(error.code, error.text),
    ...wait,
    ...(rule.template === undefined ? {} : { template: rule.template }),
    ...(rule.copyIsOld === undefined ? {} : { copyIsOld: rule.copyIsOld }),
    ...(rule.accountWide === undefined ? {} : { accountWide: rule.accountWide }),
    ...(rule === UNKNOWN && status === 403 ? { forbids: error.code } : {}),
  };
}

/** `(131047) Re-engagement message`: the provider's code and its words. */
export function errorReason(code: number, text: string): string {
  return `(${code}) ${text}`.trim().slice(0, REASON_MAX);
}

function messageIdOf(body: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const messages = body?.messages;
  const id = Array.isArray(messages) ? objectOf(messages[0])?.id : undefined;
  return typeof id === 'string' && id !== '' && id.length <= ID_MAX ? id : undefined;
}

/** More than `accepted` for a template whose quality is being assessed (Cloud API, "Template pacing"). */
function heldBackOf(body: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const messages = body?.messages;
  const status = Array.isArray(messages) ? objectOf(messages[0])?.message_status : undefined;
  return typeof status === 'string' && status !== '' && status !== 'accepted' ? status.slice(0, WORD_MAX) : undefined;
}

/** "WhatsApp user ID", which "may not match" the number that was written to (Cloud API, Messages: the answer). */
function customerOf(body: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const contacts = body?.contacts;
  const id = Array.isArray(contacts) ? objectOf(contacts[0])?.wa_id : undefined;
  return typeof id === 'string' && /^[1-9]\d{6,14}$/.test(id) ? id : undefined;
}

const ACCESS_DENIED: ErrorRule = { do: 'stop', code: 'provider_access_denied' };
const UNKNOWN: ErrorRule = { do: 'refuse', code: 'provider_refused' };
/** "Invalid request or possible server error". */
const EITHER_FAULT = 1;

/** For codes not in the table: `is_transient`, else the HTTP status. A 403 may concern one recipient: stops nothing. */
function unknownCode(status: number, { code, isTransient }: GraphError): ErrorRule {
  if (status === 429) return { do: 'back_off', code: 'provider_throttled' };
  if (isTransient || status >= 500) return { do: 'retry', code: 'provider_unavailable' };
  if (code === EITHER_FAULT) return { ...UNKNOWN, do: 'retry_once' };
  return status === 401 ? ACCESS_DENIED : UNKNOWN;
}

/**
 * Decides by the HTTP status alone, without a provider's error. A gateway's 502 or 504 says that the request was passed
 * on and no usable answer came back (RFC 9110 §15.6), so it may have arrived. Any other 5xx is the provider's own
 * statement that it failed. Redirects and 404 mean a wrong base address: every message would be refused.
 */
function plainStatus(status: number): { kind: ErrorDo; code: string } | { kind: 'unknown' } {
  if (status === 502 || status === 504) return { kind: 'unknown' };
  if (status === 429) return { kind: 'back_off', code: 'provider_throttled' };
  if (status >= 500 || status === 408 || status === 425) return { kind: 'retry', code: 'provider_unavailable' };
  if (status === 401 || status === 403) return { kind: 'stop', code: 'provider_access_denied' };
  if (status < 400 || status === 404 || status === 405) return { kind: 'stop', code: 'provider_address_wrong' };
  return { kind: 'refuse', code: 'provider_refused' };
}

/** For the operator, and like `sendTrouble` without the provider's words: they may quote numbers and settings. */
export function listTrouble(exchange: Exchange): string {
  if (exchange.kind !== 'answered') return noAnswer(exchange.kind === 'not_sent', exchange.code);
  const { status, body } = exchange;
  const code = graphErrorOf(parseObject(body))?.code;
  return `${refusal(status, code)} (HTTP ${status}, code ${code ?? 'none'})`;
}

/** Explains a send that failed for a reason outside its message. Undefined for every other verdict. */
export function sendTrouble(verdict: SendVerdict): string | undefined {
  if (verdict.kind === 'not_sent' || verdict.kind === 'unknown') {
    return noAnswer(verdict.kind === 'not_sent', verdict.code);
  }
  return verdict.kind === 'retry' ? `the provider answers ${verdict.code}` : undefined;
}

function noAnswer(notSent: boolean, code: string): string {
  return notSent ? `no connection to the provider (${code})` : `no whole answer from the provider (${code})`;
}

/** "Unsupported get request. Object with ID … does not exist, cannot be loaded due to missing permissions". */
const NO_SUCH_OBJECT = 100;

function refusal(status: number, code: number | undefined): string {
  const rule = code === undefined ? undefined : errorRule(code);
  if (rule?.code === 'provider_token_refused' || status === 401) return 'the access token is refused';
  if (rule?.code === 'provider_permission_missing' || status === 403) {
    return "the access token may not read this business's templates";
  }
  if (rule?.do === 'back_off' || status === 429) return 'the provider asks for fewer requests';
  if (code === NO_SUCH_OBJECT) return 'there is no such business id, or the access token may not see it';
  if (status < 400 || status === 404) return 'there is no such business id, or the address is not that of the API';
  if (status >= 500) return 'the provider has an internal error';
  return 'the provider refuses the list of templates';
}
