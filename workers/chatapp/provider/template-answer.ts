import type { Exchange } from '../../../shared/carriers/http/client.ts';
import { errorRule, graphErrorOf, objectOf, parseObject } from '../../../shared/carriers/providers/graph-error.ts';

/** What the provider said to a request about a template. */
export type TemplateVerdict =
  /** Of an edit or a deletion, status and id are absent. */
  | { readonly kind: 'done'; readonly upstreamId?: string; readonly status?: string; readonly category?: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The name and language are taken: perhaps by what we asked for before. */
  | { readonly kind: 'taken'; readonly reason: string }
  /** There is no such business or template, or the token may not see it. The account can help neither. `reason`: for the operator. */
  | { readonly kind: 'no_access'; readonly reason: string }
  /** The provider may have done it, or not: its list tells. `reason`: for the operator. */
  | { readonly kind: 'later'; readonly reason: string };

/** Subcode of "Content in this language already exists" (WhatsApp Business Management API). */
const TAKEN = 2388024;
/** Codes of the Graph API that pass: temporary, too many calls (developers.facebook.com/docs/graph-api, "Error handling"). */
const PASSING: readonly number[] = [1, 2, 4, 17, 32, 613, 80007, 80008];
const NO_ACCESS = 'there is no such business id, or the access token may not manage its templates';
const REASON_MAX = 500;

/** Judges the answer to a request for a template, its change or its deletion. Pure. */
export function judgeTemplateAnswer(exchange: Exchange): TemplateVerdict {
  if (exchange.kind !== 'answered')
    return { kind: 'later', reason: `no whole answer from the provider (${exchange.code})` };
  const { status } = exchange;
  const body = parseObject(exchange.body);
  if (status >= 200 && status < 300) return doneOf(body);
  const error = objectOf(body?.error);
  const code = typeof error?.code === 'number' ? error.code : undefined;
  const rule = code === undefined ? undefined : errorRule(code);
  if (rule?.code === 'provider_permission_missing') {
    // The account cannot help that, so the request waits for the operator.
    return { kind: 'later', reason: 'the access token may not manage templates' };
  }
  if (graphErrorOf(body)?.accessDenied === true) {
    return { kind: 'no_access', reason: `${NO_ACCESS} (HTTP ${status}, code ${code})` };
  }
  const passes = status >= 500 || [401, 408, 429].includes(status) || error?.is_transient === true;
  if (error === undefined || code === undefined || passes || PASSING.includes(code) || rule?.do === 'stop') {
    return { kind: 'later', reason: `the provider answers HTTP ${status}, code ${code ?? 'none'}` };
  }
  const reason = reasonOf(error, code);
  return error.error_subcode === TAKEN ? { kind: 'taken', reason } : { kind: 'refused', reason };
}

function doneOf(body: Readonly<Record<string, unknown>> | undefined): TemplateVerdict {
  if (body === undefined) return { kind: 'later', reason: 'the answer of the provider cannot be read' };
  const { id, status, category } = body;
  const word = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' && value.length <= 64 ? value : undefined;
  const [upstreamId, state, kind] = [word(id), word(status)?.toLowerCase(), word(category)?.toLowerCase()];
  return {
    kind: 'done',
    ...(upstreamId === undefined ? {} : { upstreamId }),
    ...(state === undefined ? {} : { status: state }),
    ...(kind === undefined ? {} : { category: kind }),
  };
}

/** The provider's words for people, when it has some. */
function reasonOf(error: Readonly<Record<string, unknown>>, code: number): string {
  const { error_user_title: title, error_user_msg: message, message: plain } = error;
  const words = [title, message].filter((text) => typeof text === 'string' && text !== '');
  const text = words.length > 0 ? words.join(': ') : typeof plain === 'string' ? plain : `code ${code}`;
  return text.slice(0, REASON_MAX);
}
