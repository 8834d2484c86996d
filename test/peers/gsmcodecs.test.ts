import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tablesOf } from '../../workers/smpp/inbound/national-tables.ts';
import { debianProgram } from '../support/debian.ts';

const execute = promisify(execFile);

const PIP = 'gsmcodecs==1.0.0';

/** Writes its tables as JSON: kind → language → septet → character. */
const DUMP = `
import json
from gsmcodecs.charmaps import GSMCHARMAPS
print(json.dumps({
  kind: {language: {septet: chr(character) for septet, character in maps[kind]['decode'].items()}
         for language, maps in GSMCHARMAPS.items() if kind in maps}
  for kind in ('locking', 'singleShift')
}))`;

/**
 * Where the package differs from Annex A. Android agrees with us, and Firefox OS as far as checked (not Telugu). In the
 * package the comma of India's scripts is an apostrophe, although their extensions have an apostrophe and no comma;
 * KANNADA LETTER DDA is PA, which is then there twice; Telugu's extension lacks the euro sign.
 */
const ITS_OWN = new Set([
  ...[4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((language) => `locking ${language} 44 "'"`),
  'locking 7 36 "ಪ"',
  'singleShift 12 101 undefined',
]);

type Dump = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

describe('national language tables beside the Python package gsmcodecs', function () {
  this.timeout(120_000); // A registry and a virtual environment.
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-gsm-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('every septet of every language is the same character', async () => {
    await execute(await debianProgram('python3', 'python3'), ['-m', 'venv', folder]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'];
    await execute(join(folder, 'bin/pip'), ['install', ...quiet, PIP]);
    const { stdout } = await execute(join(folder, 'bin/python'), ['-c', DUMP], { maxBuffer: 16_777_216 });
    const theirs: Dump = JSON.parse(stdout);

    const differ: string[] = [];
    for (const kind of ['locking', 'singleShift'] as const) {
      for (const [language, table] of Object.entries(theirs[kind] ?? {})) {
        const tables = tablesOf({ locking: Number(language), single: Number(language) });
        const ours = kind === 'locking' ? tables?.alphabet : tables?.extension;
        for (let septet = 0; septet < 128; septet++) {
          const their = table[septet];
          // The escape is no character of ours.
          if (septet === 0x1b || their === ours?.get(septet)) continue;
          differ.push(`${kind} ${language} ${septet} ${JSON.stringify(their)}`);
        }
      }
    }

    expect(Object.keys(theirs.locking ?? {})).to.have.length(13);
    expect(Object.keys(theirs.singleShift ?? {})).to.have.length(14);
    expect(differ).to.have.members([...ITS_OWN]);
  });
});
