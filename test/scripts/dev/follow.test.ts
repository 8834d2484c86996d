import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { followLines } from '../../../scripts/dev/follow.ts';
import { eventually } from '../../support/eventually.ts';

describe('following a file', () => {
  let folder: string;
  let stop: (() => void) | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-follow-'));
  });
  afterEach(() => {
    stop?.();
    rmSync(folder, { recursive: true, force: true });
  });

  it('passes on each line that comes, whole, and none from before', async () => {
    const file = join(folder, 'out.log');
    const seen: string[] = [];
    writeFileSync(file, 'old\n');
    stop = followLines(file, (line) => seen.push(line));

    appendFileSync(file, Buffer.from('नमस्ते one\ntw', 'utf8'));
    await eventually(() => seen.length === 1, 'the first line');
    appendFileSync(file, 'o\nthree\n');
    await eventually(() => seen.length === 3, 'the others');

    expect(seen).to.deep.equal(['नमस्ते one', 'two', 'three']);
  });

  it('waits for a file that is not there yet', async () => {
    const file = join(folder, 'later.log');
    const seen: string[] = [];
    stop = followLines(file, (line) => seen.push(line));

    writeFileSync(file, 'first\n');

    await eventually(() => seen[0] === 'first', 'its line');
  });
});
