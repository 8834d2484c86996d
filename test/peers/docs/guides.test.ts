import { type ChildProcess, spawn } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GUIDES } from '../../../gateway/endpoints/docs/guides.ts';
import { freePort } from '../../../scripts/bench/fleet.ts';
import { signature } from '../../../shared/events/webhooks/target.ts';
import { debianProgram } from '../../support/debian.ts';
import { eventually } from '../../support/eventually.ts';

const KEY = Buffer.alloc(24, 7);
const BODY = '{"event":"message.delivered","message_id":"msg_1","to":"919876543210"}';
/** A compiler may first have to compile its library. */
const START_MS = 120_000;

const PROGRAMS: Readonly<Record<string, (port: number, file: string) => readonly [string, string, string[]]>> = {
  'Node.js': (_, file) => [process.execPath, '', [file]],
  Python: (_, file) => ['python3', 'python3', [file]],
  PHP: (port, file) => ['php', 'php-cli', ['-S', `127.0.0.1:${port}`, file]],
  Java: (_, file) => ['java', 'default-jdk-headless', [file]],
  Go: (_, file) => ['go', 'golang-go', ['run', file]],
};

describe('the receivers of /docs, run as they are printed', function () {
  this.timeout(START_MS);
  let folder: string;
  const running: ChildProcess[] = [];
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-guides-'));
  });
  after(async () => {
    // Its own group, because `go run` starts the program as a child.
    for (const { pid } of running) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    await Promise.all(running.map((one) => one.exitCode === null && one.signalCode === null && once(one, 'exit')));
    rmSync(folder, { recursive: true, force: true });
  });

  for (const { language, receiver } of GUIDES) {
    if (receiver === undefined) continue;
    it(`${language}: takes what is signed, with an old secret beside too, and nothing else`, async () => {
      const port = await freePort();
      const file = join(folder, receiver.file);
      writeFileSync(file, receiver.text);
      const [program, from, args] = PROGRAMS[language]?.(port, file) ?? ['', '', []];
      const env = {
        PATH: process.env.PATH ?? '',
        PORT: String(port),
        HARKARA_WEBHOOK_SECRET: `whsec_${KEY.toString('base64')}`,
        GOCACHE: join(folder, 'go'),
        GO111MODULE: 'off',
      };
      const path = from === '' ? program : await debianProgram(program, from);
      running.push(spawn(path, args, { env, cwd: folder, detached: true, stdio: 'ignore' }));
      const now = Math.floor(Date.now() / 1_000);
      const post = (at: number, signed: string, body = BODY): Promise<number> =>
        fetch(`http://127.0.0.1:${port}/`, {
          method: 'POST',
          headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': String(at), 'webhook-signature': signed },
          body,
        }).then(({ status }) => status);
      const signedAt = (at: number, ...keys: readonly Buffer[]) =>
        signature(
          keys.map((key) => createSecretKey(key)),
          'evt_1',
          at,
          Buffer.from(BODY),
        );
      await eventually(
        () =>
          post(now, 'v1,').then(
            () => true,
            () => false,
          ),
        `${receiver.file} listens`,
        START_MS,
      );

      expect(await post(now, signedAt(now, KEY))).to.equal(204);
      expect(await post(now, signedAt(now, Buffer.alloc(24, 9), KEY))).to.equal(204);
      expect(await post(now, signedAt(now, Buffer.alloc(24, 9)))).to.equal(400);
      expect(await post(now, signedAt(now, KEY), BODY.replace('9198', '9199'))).to.equal(400);
      expect(await post(now - 400, signedAt(now - 400, KEY))).to.equal(400);
      expect(await post(now, '')).to.equal(400);
    });
  }
});
