import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { HTTP, type NamedTemplate, type Placeholder } from '../../../shared/carriers/settings/http.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { Refusal } from '../claim/departures.ts';
import { destinationAddress, sourceAddress } from '../submit/address-forms.ts';
import { carrierForm } from '../submit/carrier-form.ts';
import { RECIPIENT_UNFIT, SENDER_UNFIT, textFor } from '../submit/encode.ts';
import type { Frame } from '../submit/submission.ts';

type HttpSendable = Pick<MessageDocument, '_id' | 'sender' | 'to' | 'text' | 'encoding' | 'template' | 'entityId'>;

export interface RequestWriterOptions {
  readonly carrier: Pick<
    CarrierDocument,
    'host' | 'port' | 'tls' | 'systemId' | 'http' | 'addresses' | 'texts' | 'submits'
  >;
  /** The password, decrypted. */
  readonly password: string;
  /** Where the carrier posts its receipts to. */
  readonly callback: string;
}

type Told = Partial<Record<Placeholder, string>>;

/** Writes the one request of a message, as the carrier's settings describe it: the carrier splits long texts itself. Pure. */
export function requestWriter(options: RequestWriterOptions): (message: HttpSendable) => Frame | Refusal {
  const { carrier, password, callback } = options;
  const form = carrierForm(carrier);
  const { systemId: user } = carrier;
  const own: Told = { user, password, basic: Buffer.from(`${user}:${password}`).toString('base64'), callback };
  const {
    requestMethod: method,
    requestPath,
    requestHeaders,
    requestForm,
    requestJson,
  } = withDefaults(HTTP, carrier.http);
  const url = `${originOf(carrier)}${filled(requestPath, own, encodeURIComponent) ?? '/'}`;
  const ownHeaders = Object.fromEntries(
    requestHeaders.map(({ name, template }) => [name, filled(template, own) ?? '']),
  );
  const json: unknown = requestJson === '' ? undefined : JSON.parse(requestJson);
  return (message) => {
    const source = sourceAddress(message.sender, form.addresses);
    if (source === undefined) return SENDER_UNFIT;
    const destination = destinationAddress(message.to, form.addresses);
    if (destination === undefined) return RECIPIENT_UNFIT;
    const { _id: id, encoding, template, entityId: entity } = message;
    const told: Told = {
      ...own,
      ...{ to: destination.digits, sender: source.digits, id },
      text: textFor(message, form.texts),
      unicode: encoding === 'UCS2' ? '1' : '0',
      ...(template === undefined ? {} : { template }),
      ...(entity === undefined ? {} : { entity }),
    };
    if (json !== undefined) {
      const headers = { ...ownHeaders, 'content-type': 'application/json' };
      return { frame: Buffer.from(JSON.stringify(filledTree(json, told))), target: { method, url, headers } };
    }
    const fields = formOf(requestForm, told);
    if (method === 'GET') {
      const query = `${url.includes('?') ? '&' : '?'}${fields}`;
      return { frame: Buffer.alloc(0), target: { method, url: url + query, headers: ownHeaders } };
    }
    const headers = { ...ownHeaders, 'content-type': 'application/x-www-form-urlencoded' };
    return { frame: Buffer.from(fields), target: { method, url, headers } };
  };
}

/** Its scheme, host and port. */
function originOf({ host, port, tls }: Pick<CarrierDocument, 'host' | 'port' | 'tls'>): string {
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function formOf(fields: readonly NamedTemplate[], told: Told): string {
  const form = new URLSearchParams();
  for (const { name, template } of fields) {
    const value = filled(template, told);
    if (value !== undefined) form.append(name, value);
  }
  return form.toString();
}

/** A template with what it asks for. Undefined when the message has not all of it. */
function filled(template: string, told: Told, written: (value: string) => string = String): string | undefined {
  let lacks = false;
  const text = template.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => {
    const value = (told as Readonly<Record<string, string | undefined>>)[name];
    lacks ||= value === undefined;
    return written(value ?? '');
  });
  return lacks ? undefined : text;
}

/** JSON whose strings are templates. What lacks something is left out, and what is empty only for that. */
function filledTree(tree: unknown, told: Told): unknown {
  if (typeof tree === 'string') return filled(tree, told);
  if (Array.isArray(tree)) return tree.map((one) => filledTree(one, told)).filter((one) => one !== undefined);
  if (typeof tree !== 'object' || tree === null) return tree;
  const members = Object.entries(tree).map(([name, one]) => [name, filledTree(one, told)] as const);
  const left = members.filter(([, one]) => one !== undefined);
  return left.length === 0 && members.length > 0 ? undefined : Object.fromEntries(left);
}
