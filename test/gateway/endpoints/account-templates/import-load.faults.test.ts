import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import request from 'supertest';
import { builtProduct } from '../../../support/built.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { useStore } from '../../../support/store.ts';
import { ended } from '../../../support/worker-processes.ts';

const FILE_BYTES = 1_048_576;
const PIECE = 24_000;
/** Enough for a busy machine; reading such a file in the event loop would take over a second. */
const HELD_MAX_MS = 400;

/** A file of the maximal size: `head`, then as many of `row` as fit. */
function filled(head: string, row: (i: number) => string, bytes = FILE_BYTES): Buffer {
  const rows = [head];
  let left = bytes - head.length;
  for (let i = 0; left > 0; i++) {
    const one = row(i);
    rows.push(one);
    left -= one.length;
  }
  return Buffer.from(rows.join('')).subarray(0, bytes);
}

const HEAD = 'id,header,content\n';
const id = (i: number): string => String(1_107_160_000_000_000_001n + BigInt(i));
const WORST: readonly [string, Buffer, number][] = [
  ['rows of `a,`', filled('', () => 'a,\n'), 400],
  ['rows of `a,` below a head', filled(HEAD, () => 'a,\n'), 400],
  ['as many such rows as a file may have', filled(HEAD, () => 'a,\n', 59_000), 200],
  ['one row of `a,`', filled('', () => 'a,'), 400],
  ['a row of `a,` below a head', filled(HEAD, () => 'a,'), 400],
  ['rows with as many columns as they may have', filled(HEAD, () => `${'a,'.repeat(255)}\n`), 200],
  ['an open quotation mark', filled(HEAD, (i) => (i === 0 ? '"' : 'a,\n')), 400],
  ['quotation marks', filled(HEAD, () => '"'), 400],
  ['contents of half slots', filled(HEAD, (i) => `${id(i)},HARKRA,${'{#'.repeat(900)}\n`), 200],
  ['20,000 good templates', filled(HEAD, (i) => (i < 19_990 ? `${id(i)},HARKRA,Hi ${i} {#var#}\n` : '\n')), 403],
  ['headers', filled(HEAD, (i) => `${id(i)},"${Array.from({ length: 100 }, (_, j) => `H${i}${j}`).join()}",Hi\n`), 400],
  ['no text', Buffer.alloc(FILE_BYTES), 400],
];

describe('imports at their limits do not hold the gateway', function () {
  this.timeout(300_000);
  const store = useStore();
  let child: ChildProcess;
  let url = '';
  const dir = mkdtempSync(join(tmpdir(), 'harkara-imports-'));
  before(async () => {
    child = spawn(process.execPath, [join(await builtProduct(), 'gateway/main.js')], {
      env: {
        ...process.env,
        ...{ HARKARA_MONGODB_URI: store.uri, HARKARA_MONGODB_DATABASE: store.db.databaseName, HARKARA_DATA_DIR: dir },
        ...{ HARKARA_PORT: '0', HARKARA_METRICS_PORT: '0' },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const port = await eventually(() => /"port":(\d+),"msg":"listening"/.exec(printed)?.[1], 'it listens');
    url = `http://127.0.0.1:${port}`;
  });
  after(async () => {
    child.kill('SIGTERM');
    await ended(child);
    rmSync(dir, { recursive: true, force: true });
  });

  for (const [what, file, status] of WORST) {
    it(what, async () => {
      const key = await makeKey(store.db, await makeAccount(store.db, 0), ['manage'], undefined, 1_000_000);
      const pieces = Array.from({ length: Math.ceil(file.length / PIECE) }, (_, i) =>
        file.subarray(i * PIECE, (i + 1) * PIECE).toString('base64'),
      );
      const body = JSON.stringify({ file: pieces, dry_run: true });
      const asked = new AbortController();
      const held = longestAnswer(url, asked.signal);
      // The second one finds a running thread.
      const answers = await Promise.all(
        [1, 2].map(() =>
          request(url)
            .post('/v2/account/templates/import')
            .set({ Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' })
            .send(body),
        ),
      );
      asked.abort();

      expect(answers.map((answer) => answer.status)).to.deep.equal([status, status]);
      for (const { text } of answers) expect(text).to.have.length.below(262_144);
      expect(await held).to.be.below(HELD_MAX_MS);
    });
  }
});

/** The slowest of many small requests made in sequence meanwhile. */
async function longestAnswer(url: string, asked: AbortSignal): Promise<number> {
  let longest = 0;
  while (!asked.aborted) {
    const began = performance.now();
    await (await fetch(`${url}/healthz`)).text();
    longest = Math.max(longest, performance.now() - began);
    await setTimeout(5);
  }
  return longest;
}
