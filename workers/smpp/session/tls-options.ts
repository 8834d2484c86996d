import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { TRUST, type TrustSettings } from '../../../shared/carriers/settings/trust.ts';

/**
 * Options of a TLS connection to a carrier. The certificate must always be signed by an authority that we trust. It must also be
 * for the host name, unless the carrier's settings turn that check off.
 */
export function tlsOptions(host: string, stored: Partial<TrustSettings> = {}): ConnectionOptions {
  const { tlsCa, tlsCertificate, tlsKey, tlsHostName } = withDefaults(TRUST, stored);
  return {
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(tlsCa === '' ? {} : { ca: tlsCa }),
    ...(tlsCertificate === '' ? {} : { cert: tlsCertificate, key: tlsKey }),
    ...(tlsHostName === 'unchecked' ? { checkServerIdentity: () => undefined } : {}),
  };
}
