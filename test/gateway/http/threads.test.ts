import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Threads } from '../../../gateway/http/threads.ts';
import { keepLines } from '../../support/log-lines.ts';

const JOB = { file: Buffer.from('id,header,content\n') };

describe('a thread of a gateway', () => {
  const dir = mkdtempSync(join(tmpdir(), 'harkara-threads-'));
  const file = join(dir, 'in-thread.mjs');
  const { log, lines } = keepLines();
  const threads = new Threads(log, pathToFileURL(file));
  after(async () => {
    await threads.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('that cannot start, or ends amid its work, fails what waits for it and not the process', async () => {
    const missing = await Promise.allSettled([threads.readTemplates(JOB), threads.readTemplates(JOB)]);
    writeFileSync(file, 'export function readTemplates() { process.exit(7); }');
    const ended = await Promise.allSettled([threads.readTemplates(JOB)]);

    expect([...missing, ...ended].map(({ status }) => status)).to.deep.equal(Array(3).fill('rejected'));
    expect(lines.map(({ event }) => event)).to.include('thread_failed');
  });
});
