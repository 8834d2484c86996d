import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { SessionCookie } from '../access/sessions.ts';
import { type Policy, policyHeaders, sendBytes, sendPage, sendProblem, takesGzip } from '../http/answer.ts';
import type { Handler, Reply } from '../http/context.ts';

/** The name of an asset has the hash of its bytes. */
const FOREVER = ['Cache-Control', 'public, max-age=31536000, immutable', 'Vary', 'Accept-Encoding'];

/** The dashboard's client: one page for every path, and the files that it loads. Both need no key: what they show, they ask of the API. */
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

/** The client then does not ask who has signed in: the browser would write the 401 into its console as an error. */
function saysNobody(html: string): string {
  return html.replace('<html ', '<html data-nobody ');
}

/** One built file of the client, as it is and compressed. */
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
 * The built client (scripts/dashboard/), in memory. It is read at the first request, and again when another build has replaced
 * `index.html`: while an update starts one process after the other, each can serve what the other's page names. Only names that
 * the folder had are known, so no path leads out of it.
 */
export class ClientFiles {
  readonly #folder = builtFolder();
  #builtAt: number | undefined;
  #built: Built | undefined;

  /** Undefined when the client was never built. */
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
  /** What a page below /docs has in its head. */
  readonly docsHead: string;
  /** The versions of CHANGELOG.md, as HTML. */
  readonly changelog: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** `dist/dashboard`, from wherever this file runs: gateway/dashboard/, dist/gateway/dashboard/, or one of the bundles of the tests. */
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

/** Nothing but files of our own, no inline script or style, in no frame (docs/decisions/0035). */
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
