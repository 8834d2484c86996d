import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtDashboard } from '../../support/dashboard.ts';
import { ROOT } from '../../support/sources.ts';

/** "At most 150 KB of script (gz) on a page." */
const SCRIPT_BYTES_MAX = 150 * 1024;

describe('the build of the dashboard', () => {
  const folder = join(ROOT, 'dist/dashboard');
  let scripts: readonly string[];
  before(async () => {
    await builtDashboard();
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    scripts = [...html.matchAll(/src="\/dashboard\/(assets\/[^"]+\.js)"/g)].map(([, file = '']) => file);
  });

  it('makes two scripts, at most 150 KB', () => {
    const sizes = scripts.map((script) => readFileSync(join(folder, `${script}.gz`)).length);

    expect(scripts.map((script) => script.replace(/-[A-Z0-9]{8}/, ''))).to.deep.equal([
      'assets/theme.js',
      'assets/main.js',
    ]);
    expect(sizes.reduce((sum, bytes) => sum + bytes)).to.be.at.most(SCRIPT_BYTES_MAX);
  });

  it('names no other host, and evaluates no text', () => {
    // XML namespaces, and a link in an error text: nothing is loaded from these.
    const said = /^http:\/\/www\.w3\.org\/|^https:\/\/github\.com\/preactjs\//;

    for (const script of scripts) {
      const text = readFileSync(join(folder, script), 'utf8');
      const addresses = [...text.matchAll(/\bhttps?:\/\/[^\s"'`)]+/g)].map(([address]) => address);

      expect(text, script).not.to.match(/\bnew Function\b|\beval\(|\bimport\(/);
      expect(
        addresses.filter((address) => !said.test(address)),
        script,
      ).to.deep.equal([]);
    }
  });
});
