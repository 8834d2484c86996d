import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { builtDashboard } from '../../support/dashboard.ts';
import { ROOT } from '../../support/sources.ts';

/** "At most 150 KB of script (gz) on a page." */
const SCRIPT_BYTES_MAX = 150 * 1024;

describe('the build of the dashboard', () => {
  const folder = join(ROOT, 'dist/dashboard/assets');
  let main: string;
  before(async () => {
    await builtDashboard();
    const html = readFileSync(join(ROOT, 'dist/dashboard/index.html'), 'utf8');
    main = /assets\/(main-[^"]+\.js)/.exec(html)?.[1] ?? '';
  });

  /** What loads at once with these files. */
  function loadedWith(...names: readonly string[]): Set<string> {
    const found = new Set<string>();
    const next = [...names];
    for (let name = next.pop(); name !== undefined; name = next.pop()) {
      if (found.has(name)) continue;
      found.add(name);
      const text = readFileSync(join(folder, name), 'utf8');
      next.push(...[...text.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)].map(([, file = '']) => file));
    }
    return found;
  }

  /** What loads later, when a page is opened. */
  function pages(): string[] {
    const text = [...loadedWith(main)].map((name) => readFileSync(join(folder, name), 'utf8')).join('');
    return [...text.matchAll(/import\("\.\/([^"]+\.js)"\)/g)].map(([, file = '']) => file);
  }

  it('makes a file of its own for each page, and no page loads more than 150 KB of script', () => {
    const sizes = pages().map((page) => {
      const files = [...loadedWith(main, page)].map((name) => readFileSync(join(folder, `${name}.gz`)).length);
      return { page, bytes: files.reduce((sum, bytes) => sum + bytes, 0) };
    });

    expect(sizes).to.have.length.above(3);
    expect(sizes.filter(({ bytes }) => bytes > SCRIPT_BYTES_MAX)).to.deep.equal([]);
  });

  it('names no other host, and evaluates no text', () => {
    const scripts = pages().flatMap((page) => [...loadedWith(main, page)]);
    // Names of XML, and a hint in the text of an error: nobody loads these.
    const said = /^http:\/\/www\.w3\.org\/|^https:\/\/github\.com\/preactjs\//;

    for (const name of new Set(scripts)) {
      const text = readFileSync(join(folder, name), 'utf8');
      const addresses = [...text.matchAll(/\bhttps?:\/\/[^\s"'`)]+/g)].map(([address]) => address);

      expect(text, name).not.to.match(/\bnew Function\b|\beval\(/);
      expect(
        addresses.filter((address) => !said.test(address)),
        name,
      ).to.deep.equal([]);
    }
  });
});
