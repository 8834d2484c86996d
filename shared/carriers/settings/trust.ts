import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type Shape, setting, type Values } from './setting.ts';
import { oneOf } from './shapes.ts';

/** A PEM text that is read from a file. `off` removes it. Only what `told` returns is ever shown of it. */
function pem(what: string, isRight: (text: string) => void, told: (text: string) => string): Shape<string> {
  const valid = (text: string): boolean => {
    if (text === '') return true;
    try {
      isRight(text);
      return true;
    } catch {
      return false;
    }
  };
  return {
    value: 'FILE',
    form: `off, or a PEM file with ${what}`,
    file: true,
    parse: (text) => (valid(text) ? text : undefined),
    show: (text) => (text === '' ? 'off' : told(text)),
    valid,
  };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificates(text: string): X509Certificate[] {
  const found = (text.match(CERTIFICATE) ?? []).map((one) => new X509Certificate(one));
  if (found.length === 0) throw new TypeError('no certificate');
  return found;
}

/** When the first of these certificates ends. */
export function certificatesEnd(text: string): Date {
  return new Date(Math.min(...certificates(text).map(({ validTo }) => Date.parse(validTo))));
}

function toldCertificates(text: string): string {
  return certificates(text)
    .map(({ subject, validTo }) => `${subject.replaceAll('\n', ', ')} until ${validTo}`)
    .join('; ');
}

/**
 * With --tls yes: which authorities we trust, and which certificate is ours. Certificates are stored unchanged, the key is
 * encrypted (carrier-secrets.ts).
 */
export const TRUST = {
  tlsCa: setting(
    pem('the certificates that sign the carrier’s', certificates, toldCertificates),
    '',
    'trusted instead of the public certificate authorities',
    { kannel: 'ssl-trusted-ca-file (core)', jasmin: 'none' },
  ),
  tlsCertificate: setting(pem('our certificate', certificates, toldCertificates), '', 'our own certificate', {
    kannel: 'ssl-client-certkey-file (core)',
    jasmin: 'none',
  }),
  tlsKey: setting(
    pem('its private key', createPrivateKey, () => 'set'),
    '',
    'its private key, stored sealed',
    {
      kannel: 'ssl-client-certkey-file (core)',
      jasmin: 'none',
    },
  ),
  tlsHostName: setting(
    oneOf(['checked', 'unchecked']),
    'checked',
    'whether the carrier’s certificate must be for its host name; unchecked still needs a trusted one',
    { kannel: 'never checked', jasmin: 'never checked' },
  ),
};

export type TrustSettings = Values<typeof TRUST>;
