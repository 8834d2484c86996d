import { isDeepStrictEqual } from 'node:util';
import type { SecretBox } from '../platform/runtime/secret-box.ts';
import type { CarrierDocument } from './carrier.ts';
import type { CarrierInput } from './carrier-form.ts';
import { HTTP } from './settings/http.ts';
import { LINKS, TRUST } from './settings/links.ts';
import { withDefaults } from './settings/setting.ts';

type Secrets = Partial<Pick<CarrierDocument, 'password' | 'trust'>>;

export function sealedSecrets(box: SecretBox, carrier: string, { password, trust }: Secrets): Secrets {
  return {
    ...(password === undefined ? {} : { password: box.seal(password, ['carriers', carrier, 'password']) }),
    ...(trust?.tlsKey
      ? { trust: { ...trust, tlsKey: box.seal(trust.tlsKey, ['carriers', carrier, 'trust.tlsKey']) } }
      : {}),
  };
}

/** Throws when the key was encrypted with another secret. */
export function openedTrust(
  box: SecretBox,
  { _id, trust }: Pick<CarrierDocument, '_id' | 'trust'>,
): Pick<CarrierDocument, 'trust'> {
  return trust?.tlsKey
    ? { trust: { ...trust, tlsKey: box.open(trust.tlsKey, ['carriers', _id, 'trust.tlsKey']) } }
    : {};
}

/** Throws as `openedTrust` does. */
export function openedPassword(box: SecretBox, { _id, password }: Pick<CarrierDocument, '_id' | 'password'>): string {
  return box.open(password, ['carriers', _id, 'password']);
}

/**
 * The settings that decide where the password is sent, as whom, and who is believed to be there. Whoever could change
 * one and keep the password could read the password there (docs/decisions/0028).
 */
const LEADS = [
  ...(['kind', 'host', 'port', 'systemId', 'tls', 'otherHosts', 'receiverHosts', 'tlsCa', 'tlsHostName'] as const),
  ...(['requestPath', 'requestHeaders', 'requestForm', 'requestJson'] as const),
] as const;

/** Whether a change of this setting needs the password beside it. */
export function leadsPassword(name: string): boolean {
  return LEADS.some((lead) => lead === name);
}

/** The `LEADS` that these changes give another value. */
export function changedLeads(carrier: CarrierInput, changes: Partial<CarrierInput>): readonly string[] {
  const { links, trust, http } = carrier;
  const groups = {
    links: { ...links, ...changes.links },
    trust: { ...trust, ...changes.trust },
    http: { ...http, ...changes.http },
  };
  const [was, becomes] = [leadsOf(carrier), leadsOf({ ...carrier, ...changes, ...groups })];
  return LEADS.filter((name) => !isDeepStrictEqual(was[name], becomes[name]));
}

function leadsOf(carrier: CarrierInput): Record<(typeof LEADS)[number], unknown> {
  const { kind = 'smpp', host, port, systemId, tls, links, trust, http } = carrier;
  return {
    ...{ kind, host, port, systemId, tls },
    ...{ ...withDefaults(LINKS, links), ...withDefaults(TRUST, trust), ...withDefaults(HTTP, http) },
  };
}
