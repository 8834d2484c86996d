import { type ChildProcess, spawn } from 'node:child_process';

/** Beats for a while, then hangs when told to. */
const PROGRAM = `
import { startWatchdog } from './workers/embedded-db/watchdog.ts';
startWatchdog(1000, 50);
setTimeout(() => {
  process.send('lives');
  process.once('message', () => { for (;;); });
}, 2000);
`;

describe('embedded-db watchdog', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  it('lets a process live that comes round, and ends one that is stuck, with the reason', async () => {
    const started = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', PROGRAM], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child = started;
    let said = '';
    started.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    const exited = new Promise((resolve) => started.once('close', (_code, signal) => resolve(signal)));
    expect(await new Promise((resolve) => started.once('message', resolve))).to.equal('lives');

    started.send('be stuck');

    expect(await exited).to.equal('SIGKILL');
    expect(said).to.equal('A command has held the store for 1 s: it ends, and is started again.\n');
  });
});
