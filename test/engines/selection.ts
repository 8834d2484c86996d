import { join } from 'node:path';
import { ROOT, reaches, readSources } from '../support/sources.ts';
import type { SecantusOptions } from './secantus.ts';

/** A server, and where to find its tests: of the files named here, those run that open a store. */
export interface EngineRun extends SecantusOptions {
  readonly name: string;
  /** All that can run there: files and folders. */
  readonly tests: readonly string[];
  /** The part of `tests` that `.ci/run` runs: about five minutes for all engines together. */
  readonly chosen: readonly string[];
  /** Files that rest on what the server does otherwise than MongoDB's manual says. */
  readonly without?: readonly string[];
}

/** Places are freed by an update, and the server in Rust keeps them in its partial unique index; the last one asks how a sort was read. */
const NOT_IN_RUST = [
  'test/shared/platform/mongo/places.test.ts',
  'test/shared/people/keys/store.test.ts',
  'test/shared/templates/sms/approval-queue.test.ts',
];

/**
 * Every folder of test/shared about one stored thing, and the tests in which several such things meet. Only `--all` runs the
 * tests that try every order of two commands: they take minutes.
 */
const STORES = [
  ...['carriers', 'events/webhooks', 'people/keys', 'platform/leases', 'platform/mongo', 'templates'],
  ...['accounts', 'ledger', 'payment'].map((subject) => `money/${subject}`),
  ...['document', 'settlement'].map((subject) => `messages/${subject}`),
  ...['batch-paying', 'batch-progress', 'chat-inbox-store'].map((name) => `messages/${name}.test.ts`),
  ...['booking', 'bulk', 'cancel', 'release'].map((name) => `messages/schedule-${name}.test.ts`),
  ...['open', 'open-races.faults', 'refunded'].map((name) => `money/conversations/${name}.test.ts`),
].map((place) => `test/shared/${place}`);

const ALL = ['test/shared', 'test/gateway', 'test/workers', 'test/scripts/ops', 'test/contract', 'test/flow'];

export const RUNS: readonly EngineRun[] = [
  {
    name: 'Rust, replica set',
    server: 'rust',
    without: NOT_IN_RUST,
    tests: ALL,
    chosen: [
      ...STORES,
      'test/gateway/access/counter.test.ts',
      'test/gateway/http/idempotency',
      'test/workers/smpp/claim/claim.test.ts',
      'test/flow/whole-path.test.ts',
    ],
  },
  {
    name: 'Rust, standalone',
    server: 'rust',
    without: NOT_IN_RUST,
    standalone: true,
    tests: ['test/shared'],
    chosen: ['test/shared/platform/mongo'],
  },
  {
    name: 'Python',
    server: 'python',
    tests: ALL,
    // The Python server is a tenth as fast as the one in Rust.
    chosen: ['test/shared/platform/mongo', 'test/shared/platform/leases'],
  },
];

/** The tests of this folder: they start servers themselves, and `npm test` does not run them. */
export const OWN_TESTS = testFiles().filter((file) => isUnder(file, 'test/engines'));

/** Tests of the embedded store itself. */
const EMBEDDED = ['test/workers/embedded-db', 'test/flow/start.faults.test.ts', 'test/flow/chaos.faults.test.ts'];
const STORE = 'test/support/store.ts';
const PRODUCT = 'test/support/product.ts';

/** The test files in these places that open a store, without those of the embedded store itself. */
export function filesOf(places: readonly string[]): readonly string[] {
  const arrows = new Map(readSources(join(ROOT, 'test')).map(({ path, names }) => [path, new Set(names)]));
  return testFiles().filter((file) => {
    const reached = reaches(arrows, file);
    const isIn = (folders: readonly string[]): boolean => folders.some((folder) => isUnder(file, folder));
    return isIn(places) && !isIn(EMBEDDED) && (reached.has(STORE) || reached.has(PRODUCT));
  });
}

function testFiles(): string[] {
  const sources = readSources(join(ROOT, 'test'));
  return sources
    .map(({ path }) => path)
    .filter((path) => path.endsWith('.test.ts'))
    .sort();
}

function isUnder(file: string, place: string): boolean {
  return file === place || file.startsWith(`${place}/`);
}
