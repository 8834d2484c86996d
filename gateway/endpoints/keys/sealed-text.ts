import { formatKey, type KeyText, newKeyText, parseKey } from '../../../shared/people/keys/key-secret.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/**
 * The text of a new key, sealed. It serves as the id of the request that makes the key, so with an Idempotency-Key it is stored with
 * the claim for a day, as the answer is. If the gateway dies after it has made the key, a repeated request can still be answered.
 */
export type SealedText = string;

export function newSealedText({ box, clock }: Pick<GatewayDeps, 'box' | 'clock'>, account: AccountId): SealedText {
  return box.seal(formatKey(newKeyText(clock.now().getTime())), ['idempotency', account, 'result']);
}

/** Throws when it is none, or sealed with another secret or for another account. */
export function openText({ box }: Pick<GatewayDeps, 'box'>, account: AccountId, sealed: SealedText): KeyText {
  const parsed = parseKey(box.open(sealed, ['idempotency', account, 'result']));
  if (parsed === undefined) throw new Error('a sealed text is no key');
  return parsed;
}
