import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './support/sources.ts';

/** A stand-in for npm: lint, the tests and installing fail; everything else passes. */
const NPM = `#!/bin/sh
case "$*" in
*lint) echo 'a.ts:3 not as the house has it'; exit 1 ;;
test)
  seq 2000 | sed 's/^/noise /'
  printf '\\n  5 passing (1m 2s)\\n\\033[31m  2 failing\\033[0m\\n\\n  1) one\\n       fails:\\n     Error: the first reason\\n\\n  2) other\\n'
  exit 1 ;;
'run test:faults') printf '\\n  3 passing (1s)\\n' ;;
'run test:peers') printf '\\n  7 passing (1s)\\n' ;;
install*) exit 1 ;;
esac
`;

describe('.ci/run', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-ci-'));
    const programs = { npm: NPM, 'apt-get': '#!/bin/sh\n', sudo: '#!/bin/sh\n', python3: '#!/bin/sh\nexit 3\n' };
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), 0o755);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  it('ends with all that failed, titles and errors, and the sums in its last line', async () => {
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    const [code, out] = await new Promise<[unknown, string]>((resolve) => {
      execFile(join(ROOT, '.ci/run'), { env }, (error, stdout) => resolve([error?.code, stdout]));
    });

    expect(code).to.equal(1);
    const end = out.slice(out.indexOf('== All that failed'));
    expect(end).to.match(/\n-- lint: ended with exit code 1\na\.ts:3 not as the house has it\n/);
    expect(end).to.match(
      /\n-- npm test: 2 failed\n\n {2}1\) one\n {7}fails:\n {5}Error: the first reason\n\n {2}2\) other\n/,
    );
    expect(end).to.match(/\n-- Node 22\.\d+\.\d+: ended with exit code 1\n/);
    expect(end).to.match(/\n-- servers of the engines suite: ended with exit code 3\n/);
    expect(end).not.to.include('noise');
    expect(end).to.match(/\n15 passed, 6 failed\n$/);
  });
});
