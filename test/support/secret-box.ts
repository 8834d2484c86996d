import { createSecretBox, type SecretBox } from '../../shared/platform/runtime/secret-box.ts';

/** The box of one key, as of an installation whose key was never changed. */
export function boxOf(key: Buffer): SecretBox {
  return createSecretBox(() => [key]);
}
