import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['docs', 'gateway', 'workers', 'shared', 'scripts', 'test'];

/** A decision says what was true on the day it was written. Its paths are those of that day. */
const HISTORY = /^docs\/decisions\//;

const pages = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ),
]
  .filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md')
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

describe('the pages for readers', () => {
  it('have links that lead somewhere', () => {
    const dead = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(ROOT, dirname(path), link)))
        .map((link) => `${path}: ${link}`),
    );

    expect(dead).to.deep.equal([]);
  });

  it('name files that are there', () => {
    const gone = pages
      .filter(({ path }) => !HISTORY.test(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`((?:gateway|workers|shared|scripts|test)\/[\w/.-]+\.ts)`/g)]
          .map(([, named = '']) => named)
          .filter((named) => ![ROOT, dirname(join(ROOT, path))].some((from) => existsSync(join(from, named))))
          .map((named) => `${path}: ${named}`),
      );

    expect(gone).to.deep.equal([]);
  });
});
