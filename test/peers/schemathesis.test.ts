import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtProduct } from '../support/built.ts';
import { debianProgram } from '../support/debian.ts';
import { makeKey, TEST_CONFIG, useGateway } from '../support/gateway.ts';
import { makeAccount } from '../support/make.ts';
import { furnish } from '../support/one-of-each.ts';
import { useStore } from '../support/store.ts';

const execute = promisify(execFile);

const PIP = 'schemathesis==4.32.5';
const MINUTE_MS = 60_000;
/** Requests to each endpoint in a round; rounds repeat until half of the time is over. */
const EXAMPLES = 5;
const SECONDS = 100;
const FREE = 1_000_000_000;

/**
 * For a generator of requests from the document. Every answer must be documented; none may be 500; what the document
 * allows must be accepted or refused with its own problem, anything else refused.
 */
const CHECKS = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_schema_conformance'],
  ...['negative_data_rejection', 'unsupported_method', 'allow_header_conformance', 'ignored_auth'],
];

/** Streams never end; the others are about sessions, providers and pages. */
const NOT_ASKED = '/stream$|^/v2/session|^/v2/profile|^/chatapp/callback|/test$|^/docs|^/openapi';

describe('the document beside the Python package schemathesis', function () {
  this.timeout(15 * MINUTE_MS);
  const store = useStore();
  // It often asks without a key, for which 429 would precede 401 to prevent guessing: not here.
  const gateway = useGateway(store, { config: { ...TEST_CONFIG, authFailuresPerMinute: FREE } });
  let folder: string;
  before(async () => {
    await builtProduct(); // Template imports run in threads of the build.
    folder = mkdtempSync(join(tmpdir(), 'harkara-schemathesis-'));
    await execute(await debianProgram('python3', 'python3'), ['-m', 'venv', folder]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    await execute(join(folder, 'bin/pip'), ['install', ...quiet, PIP]);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function run(key: string, ...filters: readonly string[]): Promise<void> {
    const options = [
      '--checks',
      CHECKS.join(),
      '--phases',
      'examples,fuzzing',
      '--max-examples',
      String(EXAMPLES),
      '--max-time',
      String(SECONDS),
    ];
    const steady = [
      '--seed',
      '1',
      '--no-shrink',
      '--warnings',
      'off',
      '--continue-on-failure',
      '--suppress-health-check',
      'all',
    ];
    const ran = await execute(
      join(folder, 'bin/schemathesis'),
      [
        ...['run', `${gateway.url}/openapi.json`, '--header', `Authorization: Bearer ${key}`],
        ...[...options, ...steady, '--request-timeout', '20', '--exclude-path-regex', NOT_ASKED, ...filters],
      ],
      { cwd: folder, maxBuffer: 67_108_864, env: { ...process.env, PYTHONUTF8: '1' } },
    ).catch((error: { readonly code: unknown; readonly stdout: string }) => error);
    expect('code' in ran ? ran.code : 0, ran.stdout.slice(-8_000)).to.equal(0);
    expect(ran.stdout).to.match(/\d{3,} generated/);
  }

  it('accounts: no answer that it does not have', async () => {
    const account = await makeAccount(store.db, FREE);
    await furnish(store.db, account);
    const key = await makeKey(store.db, account, ['send', 'read', 'otp', 'manage'], undefined, FREE);
    await run(key, '--exclude-tag', 'Operators');
  });

  it('operators: no answer that it does not have', async () => {
    await makeAccount(store.db, FREE);
    const scopes = ['admin:read', 'admin:support', 'admin:money', 'admin:routing'] as const;
    const key = await makeKey(store.db, undefined, scopes, undefined, FREE);
    await run(key, '--include-tag', 'Operators');
  });
});
