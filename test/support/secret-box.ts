import { createSecretBox, type SecretBox } from '../../shared/platform/runtime/secret-box.ts';

/** A box with one key, as of an installation whose key was never changed. */
export function boxOf(key: Buffer): SecretBox {
  return createSecretBox(() => [key]);
}
