import { formatKey, type KeyText, newKeyText, parseKey } from '../../../shared/keys/key-secret.ts';
import type { GatewayDeps } from '../../process/deps.ts';

/**
 * The text of a new key, as the id of the request that makes it. With an Idempotency-Key it is stored with the claim, for a day
 * and sealed, as the answer is: only so can a request be answered whose gateway died after it had made the key.
 */
export type SealedText = string;

export function newSealedText({ box, clock }: Pick<GatewayDeps, 'box' | 'clock'>): SealedText {
  return box.seal(formatKey(newKeyText(clock.now().getTime())));
}

/** Throws when it is none, or sealed with another secret. */
export function openText({ box }: Pick<GatewayDeps, 'box'>, sealed: SealedText): KeyText & { readonly text: string } {
  const text = box.open(sealed);
  const parsed = parseKey(text);
  if (parsed === undefined) throw new Error('a sealed text is no key');
  return { ...parsed, text };
}
