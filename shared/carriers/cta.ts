import { homeOf, inCountry, isInternational, type NumberRules } from '../money/accounts/number-check.ts';
import type { CtaId } from '../platform/runtime/ids.ts';
import { isExponential } from '../platform/sheets/cell.ts';
import type { Registration } from './registration-store.ts';

/**
 * A CTA (call to action): a link, app or callback number that an account registered on the DLT platform, so that its
 * messages may hold it. Their number is limited, because every gateway keeps them in memory.
 */
export interface CtaDocument extends Registration {
  readonly _id: CtaId;
  readonly kind: CtaKind;
  /** In the form that is compared: `acme.in/offers`, `acme:pay`, `919876543210`. Unique in the account. */
  readonly value: string;
}

export const CTA_KINDS = ['url', 'app', 'number'] as const;
export type CtaKind = (typeof CTA_KINDS)[number];

export type ReadCta =
  | { readonly kind: CtaKind; readonly value: string }
  /** One sentence. */
  | { readonly kind: 'fault'; readonly detail: string };

export const CTA_MAX = 300;

/**
 * Hosts where everybody has pages: shorteners, stores, messengers, social networks. The host alone does not say whose
 * link it is, so operators register it with a path: `https://bit.ly/HEADER/…`, `https://wa.me/919494410631` (MSG91,
 * "How to Whitelist URLs and Callback Numbers on DLT"; msgclub, "CTA"). Links are never followed.
 */
const SHORTENERS: ReadonlySet<string> = new Set([
  ...['bit.ly', 'tinyurl.com', 't.co', 'goo.gl', 'ow.ly', 'is.gd', 'v.gd', 'buff.ly', 'rebrand.ly', 'cutt.ly', 't.ly'],
  ...['rb.gy', 'shorturl.at', 'short.gy', 'tiny.cc', 'bl.ink', 'adf.ly', 's.id', 'lnkd.in', 'linktr.ee', 'bitly.com'],
  ...['j.mp', 'dub.sh', 'tny.im', 'urlzs.com', 'smsw.in', 'amzn.to', 'fkrt.it', 'youtu.be', 'forms.gle', 'page.link'],
]);
/** Messengers ("OTT"). */
export const MESSENGERS: ReadonlySet<string> = new Set(['wa.me', 'api.whatsapp.com', 't.me', 'telegram.me', 'm.me']);
const OF_EVERYBODY: ReadonlySet<string> = new Set([
  ...[...MESSENGERS, 'play.google.com', 'apps.apple.com', 'github.com'],
  ...['docs.google.com', 'drive.google.com', 'sites.google.com', 'instagram.com', 'www.instagram.com', 'facebook.com'],
  ...['www.facebook.com', 'fb.com', 'youtube.com', 'www.youtube.com', 'x.com', 'twitter.com', 'linkedin.com'],
]);

/** `home`: the country of numbers without a country code. */
export function readCta(written: string, home: string): ReadCta {
  const text = written.trim();
  if (text === '') return fault('It is empty.');
  if (text.length > CTA_MAX) return fault(`It has ${text.length} characters; ${CTA_MAX} are allowed.`);
  if (/^[+(]?[0-9][0-9 ()-]*$/.test(text)) {
    const digits = text.replaceAll(/\D/g, '');
    if (digits.length < 3 || digits.length > 15) return fault('A number has 3 to 15 digits.');
    return { kind: 'number', value: numberValue(text, home) };
  }
  if (isExponential(text)) return fault(`A spreadsheet has rounded "${text}": format its column as text.`);
  if (/\s/.test(text)) return fault('It must have no spaces.');
  const link = readLink(text);
  if (link === undefined) {
    return fault('It is neither a link (https://acme.in/offers), nor an app (https://acme.in/acme.apk), nor a number.');
  }
  if (link.isAddress) return fault('Operators register names of hosts only, no IP addresses.');
  const { host, path } = link;
  if (link.scheme === undefined) {
    if (!host.includes('.')) return fault(`"${host}" is no name of a host.`);
    const isShared = isShort(host) || OF_EVERYBODY.has(host);
    if (isShared && path === '') {
      return fault(`Everybody can have links at ${host}: give the whole link, or the part that is yours.`);
    }
    if (host === 'play.google.com' && !/[?&]id=\w/.test(path)) return fault('Give the link with the `id` of your app.');
  }
  return { kind: isApp(link) ? 'app' : 'url', value: host + path };
}

function fault(detail: string): ReadCta {
  return { kind: 'fault', detail };
}

export function isShort(host: string): boolean {
  return SHORTENERS.has(host.replace(/^www\./, ''));
}

function isApp({ scheme, host, path }: Link): boolean {
  return (
    scheme !== undefined ||
    /\.(apk|ipa)$/i.test(path) ||
    (host === 'play.google.com' && path.startsWith('/store/apps')) ||
    host === 'apps.apple.com'
  );
}

/** The country of numbers without a country code. */
export function homeOfCtas(account: Pick<NumberRules, 'country' | 'dlt'>): string {
  return homeOf(account) ?? 'IN';
}

/** The number with its country code if the numbering plan has it; else its digits without leading zeros. */
export function numberValue(written: string, home: string): string {
  const digits = written.replaceAll(/\D/g, '');
  if (written.startsWith('+') && isInternational(digits)) return digits;
  return inCountry(digits, home) ?? (isInternational(digits) ? digits : digits.replace(/^0+(?=\d)/, ''));
}

export interface Link {
  /** The scheme of an app's link (`acme:`); undefined for the web. */
  readonly scheme?: string;
  /** In lower case, in ASCII (punycode), with a port if it has one. For an app: its scheme. */
  readonly host: string;
  /** As written, capitals too, without trailing `/`, `?`, `#`. Empty, or begins with `/`, `?` or `#`. */
  readonly path: string;
  readonly isAddress: boolean;
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/** Text before an @ is not the host: browsers open what follows. Undefined when it is no link. */
export function readLink(written: string): Link | undefined {
  const scheme = SCHEME.exec(written)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    const rest = trimmed(written.slice(scheme.length + 3));
    return { scheme, host: `${scheme}:`, path: rest === '' ? '' : `/${rest}`, isAddress: false };
  }
  const whole = scheme === undefined ? `https://${written}` : written;
  if (!URL.canParse(whole)) return undefined;
  const { host, pathname, search, hash, hostname } = new URL(whole);
  const isAddress = hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname);
  return { host: host.replace(/\.$/, ''), path: trimmed(pathname + search + hash), isAddress };
}

function trimmed(path: string): string {
  return path.replace(/[/?#]+$/, '');
}

/** Where a registered beginning of a link may end; the rest may differ from message to message. */
const BOUNDARY = /[/?#&]|(?<==)/g;
/** Most boundaries of a link that are tried; then only the whole link. */
const BEGINNINGS_MAX = 16;

/** The registrations that would cover the link: for `a.in/t?id=7` `a.in`, `a.in/t`, `a.in/t?id=` and itself. */
export function coveringLink({ host, path }: Link): readonly string[] {
  const ends = [...path.matchAll(BOUNDARY)].map(({ index }) => index).slice(0, BEGINNINGS_MAX);
  return [...new Set([...ends.map((end) => host + path.slice(0, end)), host + path])];
}
