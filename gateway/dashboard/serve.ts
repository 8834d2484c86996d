import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { SessionCookie } from '../access/sessions.ts';
import { type Policy, policyHeaders, sendBytes, sendPage, sendProblem, takesGzip } from '../http/answer.ts';
import type { Handler, Reply } from '../http/context.ts';

/** An asset's name contains the hash of its bytes. */
const FOREVER = ['Cache-Control', 'public, max-age=31536000, immutable', 'Vary', 'Accept-Encoding'];

/** Serves one page for every path, and its assets. Neither needs a key: the client gets its data from the API. */
export function createDashboard(
  files: ClientFiles,
  cookie: SessionCookie,
): { readonly page: Handler; readonly asset: Handler } {
  const headers = policyHeaders(POLICY);
  return {
    page: (req, res: Reply) => {
      const html = files.built()?.page;
      if (html !== undefined) sendPage(res, cookie.read(req) === undefined ? saysNobody(html) : html, headers);
      else sendProblem(res, 'not_found', { detail: 'The dashboard was not built. Run `npm run build`.' });
    },
    asset: (req, res: Reply) => {
      const { name } = req.params;
      const found = typeof name === 'string' ? files.asset(name) : undefined;
      if (found === undefined) return sendProblem(res, 'not_found');
      const small = takesGzip(req);
      const coding = small ? ['Content-Encoding', 'gzip'] : [];
      sendBytes(res, found.contentType, small ? found.gzip : found.plain, [...FOREVER, ...coding]);
    },
  };
}

/** Tells the client that nobody is signed in; asking would make the browser log the 401 as an error. */
function saysNobody(html: string): string {
  return html.replace('<html ', '<html data-nobody ');
}

interface Asset {
  readonly contentType: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The built client (scripts/dashboard/), in memory: read at the first request and again when a new build replaced
 * `index.html`. While an update restarts processes one by one, each can still serve assets of the other build. Only
 * names found in the folder are served, so no path leads out of it.
 */
export class ClientFiles {
  readonly #folder = builtFolder();
  #builtAt: number | undefined;
  #built: Built | undefined;

  built(): Built | undefined {
    const builtAt = statSync(join(this.#folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (builtAt === this.#builtAt) return this.#built;
    const read = (name: string): string => readFileSync(join(this.#folder, name), 'utf8');
    this.#built = {
      page: read('index.html'),
      docsHead: read('docs-head.html').trim(),
      changelog: read('changelog.html'),
      assets: readAssets(join(this.#folder, 'assets')),
    };
    this.#builtAt = builtAt;
    return this.#built;
  }

  asset(name: string): Asset | undefined {
    return this.#built?.assets.get(name) ?? this.built()?.assets.get(name);
  }
}

interface Built {
  readonly page: string;
  /** Goes into the head of pages below /docs. */
  readonly docsHead: string;
  /** CHANGELOG.md as HTML. */
  readonly changelog: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** `dist/dashboard`, seen from the source, from dist/gateway/dashboard/ or from a test bundle. */
function builtFolder(): string {
  const up = ['..', '../..', '../../..', '../../../..'].map((path) => join(import.meta.dirname, path));
  const root = up.find((path) => existsSync(join(path, 'package.json'))) ?? '.';
  return join(root, 'dist', 'dashboard');
}

function readAssets(folder: string): ReadonlyMap<string, Asset> {
  const names = readdirSync(folder).filter((name) => CONTENT_TYPES[extname(name)] !== undefined);
  return new Map(
    names.map((name) => {
      const contentType = CONTENT_TYPES[extname(name)] ?? '';
      const plain = readFileSync(join(folder, name));
      return [name, { contentType, plain, gzip: readFileSync(join(folder, `${name}.gz`)) }];
    }),
  );
}

/** Only our own files, no inline script or style, no framing (docs/decisions/0035). */
export const POLICY: Policy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  objectSrc: ["'none'"],
  frameAncestors: ["'none'"],
};
