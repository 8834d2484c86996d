import { join } from 'node:path';
import { ROOT, reaches, readSources } from '../support/sources.ts';
import type { SecantusOptions } from './secantus.ts';

/** A server and its tests: of the files named here, those that open a store. */
export interface EngineRun extends SecantusOptions {
  readonly name: string;
  /** All files and folders that can run there. */
  readonly tests: readonly string[];
  /** The part of `tests` for `.ci/run`: about five minutes for all engines together. */
  readonly chosen: readonly string[];
  /** Files that depend on where the server deviates from MongoDB's manual. */
  readonly without?: readonly string[];
}

/** The Rust server keeps places freed by an update in a partial unique index; the last file checks a sort. */
const NOT_IN_RUST = [
  'test/shared/platform/mongo/places.test.ts',
  'test/shared/people/keys/store.test.ts',
  'test/shared/templates/sms/approval-queue.test.ts',
];

/**
 * The folders of test/shared about one stored thing, and tests that combine several. Tests of every order of two
 * commands take minutes and run only with `--all`.
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
    // The Python server has a tenth of the Rust server's speed.
    chosen: ['test/shared/platform/mongo', 'test/shared/platform/leases'],
  },
];

/** This folder's own tests, which start servers themselves; `npm test` leaves them out. */
export const OWN_TESTS = testFiles().filter((file) => isUnder(file, 'test/engines'));

const EMBEDDED = ['test/workers/embedded-db', 'test/flow/start.faults.test.ts', 'test/flow/chaos.faults.test.ts'];
const STORE = 'test/support/store.ts';
const PRODUCT = 'test/support/product.ts';

/** The test files in these places that open a store, except those of the embedded store. */
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
