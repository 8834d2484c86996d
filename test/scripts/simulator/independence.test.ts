import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../scripts/simulator');

const READERS = ['standardwebhooks', 'smtp-server', 'postal-mime'];

describe('the simulator', () => {
  it('imports nothing of the product and no SMPP library: only Node, what reads signatures and mails, and itself', () => {
    const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

    for (const file of files) {
      const source = readFileSync(join(ROOT, file), 'utf8');
      const imported = [...source.matchAll(/(?<!')\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name]) => name ?? '');
      for (const name of imported.filter((each) => !each.startsWith('node:') && !READERS.includes(each))) {
        expect(name, file).match(/^\.{1,2}\//);
        expect(join(ROOT, file, '..', name), file).satisfy((path: string) => path.startsWith(`${ROOT}/`));
      }
    }
    expect(files).length.above(20);
  });
});
