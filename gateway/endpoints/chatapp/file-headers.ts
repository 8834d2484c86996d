import { type Policy, policyHeaders } from '../../http/answer.ts';

/**
 * A customer made the file, and a browser may show it on the dashboard's origin. So nothing of it may run or load: the
 * sandbox removes the origin, and only what browsers need to show pictures and films is allowed.
 */
const FILE_POLICY: Policy = {
  defaultSrc: ["'none'"],
  imgSrc: ["'self'"],
  mediaSrc: ["'self'"],
  styleSrc: ["'unsafe-inline'"],
  frameAncestors: ["'none'"],
  sandbox: [],
};

export const FILE_HEADERS: readonly string[] = policyHeaders(FILE_POLICY);

/** Types that browsers show by themselves and cannot run, with their extensions. All others are downloaded. */
const SHOWN: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/webp', 'webp'],
  ['image/gif', 'gif'],
  ['video/mp4', 'mp4'],
  ['video/3gpp', '3gp'],
  ['audio/aac', 'aac'],
  ['audio/amr', 'amr'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp4', 'm4a'],
  ['audio/ogg', 'ogg'],
]);

const ANY_TYPE = 'application/octet-stream';
const TOKEN = '[a-z0-9!#$&^_.+-]{1,100}';
const MEDIA_TYPE = new RegExp(`^((?:image|video|audio|text|application|font)/${TOKEN})\\s*(?:;|$)`);
/** Types that browsers run as pages or scripts. */
const RUNS = /^text\/(html|xml|xsl|javascript|ecmascript)$|^application\/(xml|(x-)?(javascript|ecmascript))$|\+xml$/;
/** The only parameter that says more than the bytes: `audio/ogg; codecs=opus`. */
const CODECS = /;\s*codecs="?([A-Za-z0-9.,_-]{1,60})"?\s*(?:;|$)/;

/** The Content-Type for the provider's. Types that could run, and invalid ones, become arbitrary bytes. */
export function safeType(said: string | undefined): string {
  const text = (said ?? '').toLowerCase().trim();
  const [, type = ANY_TYPE] = MEDIA_TYPE.exec(text) ?? [];
  if (RUNS.test(type)) return ANY_TYPE;
  const [, codecs] = CODECS.exec(said ?? '') ?? [];
  return codecs === undefined ? type : `${type}; codecs="${codecs}"`;
}

/** The Content-Disposition (RFC 6266). `type` is a result of `safeType`, `name` the customer's, `otherwise` ours. */
export function disposition(type: string, name: string | undefined, otherwise: string): string {
  const extension = SHOWN.get(type.split(';')[0] ?? '');
  const safe = safeName(name) || (extension === undefined ? otherwise : `${otherwise}.${extension}`);
  const ascii = safe.replaceAll(/[^\x20-\x7e]|[%"\\]/g, '_');
  const exact = ascii === safe ? '' : `; filename*=UTF-8''${percentEncoded(safe)}`;
  return `${extension === undefined ? 'attachment' : 'inline'}; filename="${ascii}"${exact}`;
}

const NAME_MAX = 120;
const EXTENSION_MAX = 12;

/**
 * A safe file name: without folders, invisible characters and characters that change the writing direction. Joiners
 * stay, because Indian scripts need them. Empty when nothing is left.
 */
function safeName(name = ''): string {
  const plain = name
    .slice(0, 1_024)
    .replaceAll(/(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .replaceAll(/[/\\:*?"<>|\ufffd]/g, '_')
    .replace(/^[.\s]+/, '')
    .replace(/[.\s]+$/, '');
  const characters = [...plain];
  if (characters.length <= NAME_MAX) return plain;
  const dot = characters.lastIndexOf('.');
  const extension = characters.length - dot <= EXTENSION_MAX ? characters.slice(dot) : [];
  return [...characters.slice(0, NAME_MAX - extension.length), ...extension].join('');
}

/** RFC 8187: of what `encodeURIComponent` leaves, `'()*` must be encoded too. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
