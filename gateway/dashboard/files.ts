import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

/** One built file of the client, as it is and compressed. */
export interface Asset {
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
  #page: string | undefined;
  #docsHead: string | undefined;
  #changelog: string | undefined;
  #assets: ReadonlyMap<string, Asset> = new Map();

  /** Undefined when the client was never built. */
  page(): string | undefined {
    this.#refresh();
    return this.#page;
  }

  /** What a page below /docs has in its head. */
  docsHead(): string | undefined {
    this.#refresh();
    return this.#docsHead;
  }

  /** The versions of CHANGELOG.md, as HTML. */
  changelog(): string | undefined {
    this.#refresh();
    return this.#changelog;
  }

  asset(name: string): Asset | undefined {
    if (!this.#assets.has(name)) this.#refresh();
    return this.#assets.get(name);
  }

  #refresh(): void {
    const builtAt = statSync(join(this.#folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (builtAt === this.#builtAt) return;
    this.#assets = readAssets(join(this.#folder, 'assets'));
    this.#page = readFileSync(join(this.#folder, 'index.html'), 'utf8');
    this.#docsHead = readFileSync(join(this.#folder, 'docs-head.html'), 'utf8').trim();
    this.#changelog = readFileSync(join(this.#folder, 'changelog.html'), 'utf8');
    this.#builtAt = builtAt;
  }
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
