import { createPrivateKey, X509Certificate } from 'node:crypto';
import { listOf, oneOf, type Shape, setting, type Values, whole } from './setting.ts';

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const hostAndPort: Shape<HostAndPort> = {
  value: 'HOST:PORT',
  form: 'like smsc.example:2775 or [2001:db8::1]:2775',
  parse: (text) => {
    const [, six, name, digits] = /^(?:\[([0-9a-fA-F:]+)\]|([^\s/:,[\]]{1,253})):(\d{1,5})$/.exec(text) ?? [];
    const host = six ?? name;
    const port = Number(digits);
    return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
  },
  show: ({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
};

const MAX_HOSTS = 10;

/** The carrier's other addresses, and how soon to reconnect. */
export const LINKS = {
  otherHosts: setting(
    listOf(hostAndPort, MAX_HOSTS),
    [],
    'tried in this order when the host does not let us bind, then the host again',
  ),
  receiverHosts: setting(
    listOf(hostAndPort, MAX_HOSTS),
    [],
    'with the bind kind pair: where the receiver binds, in order; none: where the transmitter does',
  ),
  reconnectMs: setting(
    whole('MS', 0, 3_600_000),
    0,
    'shortest pause before connecting again, in milliseconds; ours grows from 0 to 60 s',
  ),
};

/** A PEM text, read from a file. `off` removes it. Only what `told` returns is ever shown. */
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

export function certificatesEnd(text: string): Date {
  return new Date(Math.min(...certificates(text).map(({ validTo }) => Date.parse(validTo))));
}

function toldCertificates(text: string): string {
  return certificates(text)
    .map(({ subject, validTo }) => `${subject.replaceAll('\n', ', ')} until ${validTo}`)
    .join('; ');
}

/** With --tls yes. The key is stored encrypted (carrier-secrets.ts). */
export const TRUST = {
  tlsCa: setting(
    pem('the certificates that sign the carrier’s', certificates, toldCertificates),
    '',
    'trusted instead of the public certificate authorities',
  ),
  tlsCertificate: setting(pem('our certificate', certificates, toldCertificates), '', 'our own certificate'),
  tlsKey: setting(
    pem('its private key', createPrivateKey, () => 'set'),
    '',
    'its private key, stored sealed',
  ),
  tlsHostName: setting(
    oneOf(['checked', 'unchecked']),
    'checked',
    'whether the carrier’s certificate must be for its host name; unchecked still needs a trusted one',
  ),
};

export type TrustSettings = Values<typeof TRUST>;
