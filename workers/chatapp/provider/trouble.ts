import type { Exchange } from '../../../shared/carriers/http/client.ts';
import { errorRule, graphErrorOf, parseObject } from '../../../shared/carriers/providers/graph-error.ts';
import type { SendVerdict } from './answer.ts';

/**
 * Explains to the operator why a provider fails, in our words and with its codes. The provider's own words are left out,
 * because they may quote numbers and settings.
 */

/** Explains an exchange that brought no list of templates. */
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

/**
 * The Graph API's "Unsupported get request. Object with ID … does not exist, cannot be loaded due to missing
 * permissions".
 */
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
