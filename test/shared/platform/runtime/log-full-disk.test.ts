import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Logs 20 lines to a full disk, more slowly than they are flushed, and ends. */
const SCRIPT = `
  import { createLog } from './shared/platform/runtime/log.ts';
  const log = createLog('test', 'info', '/dev/full');
  let lines = 0;
  const timer = setInterval(() => {
    log.info('line', { text: 'x', padding: 'y'.repeat(13_000) });
    if (++lines < 20) return;
    clearInterval(timer);
    log.flush();
    process.stdout.write('ended by itself');
  }, 20);
`;

describe('a log on a full disk', () => {
  it('does not end the process, and holds up no stop', async () => {
    const ended = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', SCRIPT],
      { timeout: 30_000 },
    );

    expect(ended.stdout).to.equal('ended by itself');
  });
});
