import type { SecretBox } from '../runtime/secret-box.ts';
import type { CarrierDocument } from './carrier.ts';

type Secrets = Partial<Pick<CarrierDocument, 'password' | 'trust'>>;

/** Encrypts the settings that are secret: the password, and the key of our certificate. */
export function sealedSecrets(box: SecretBox, { password, trust }: Secrets): Secrets {
  return {
    ...(password === undefined ? {} : { password: box.seal(password) }),
    ...(trust?.tlsKey ? { trust: { ...trust, tlsKey: box.seal(trust.tlsKey) } } : {}),
  };
}

/** The TLS settings with the key decrypted. Throws when it was encrypted with another key. */
export function openedTrust(box: SecretBox, { trust }: Pick<CarrierDocument, 'trust'>): Pick<CarrierDocument, 'trust'> {
  return trust?.tlsKey ? { trust: { ...trust, tlsKey: box.open(trust.tlsKey) } } : {};
}
