/** Test files for one mocha process. */
export interface Unit {
  readonly name: string;
  readonly files: readonly string[];
}

/**
 * Whether a file belongs to `npm run test:faults` (crash points, kills, fencing, fairness, store trouble, hostile
 * bytes, long tests): its name ends with `faults` before the usual ending.
 */
export function isFaults(path: string): boolean {
  return /[./]faults\.test\.ts$/.test(path);
}

/** Files worth their own process, longest first (measured). A wrong order or a missing file only costs time. */
export const LONG: readonly string[] = [
  'test/flow/crash-points.faults.test.ts',
  'test/flow/chaos.faults.test.ts',
  'test/shared/money/conversations/charge-store.faults.test.ts',
  'test/contract/specification.test.ts',
  'test/flow/paid-once.faults.test.ts',
  'test/flow/kills.faults.test.ts',
  'test/flow/store-trouble.faults.test.ts',
  'test/flow/bulk.faults.test.ts',
  'test/flow/fairness.faults.test.ts',
  'test/flow/start.faults.test.ts',
  'test/workers/chatapp/process.faults.test.ts',
  'test/flow/schedules.faults.test.ts',
  'test/flow/store-faults/each-command.faults.test.ts',
  'test/flow/fencing.faults.test.ts',
  'test/flow/store-faults/failover.faults.test.ts',
  'test/flow/chatapp.faults.test.ts',
  'test/workers/schedules/process.faults.test.ts',
  'test/flow/whole-path.test.ts',
  'test/peers/prometheus.test.ts',
  'test/peers/dashboard/every-page.test.ts',
  'test/peers/dashboard/journey.test.ts',
  'test/peers/dashboard/operators.test.ts',
  'test/peers/docs/generators.test.ts',
  'test/peers/clients/clients.test.ts',
  'test/peers/dashboard/settings.test.ts',
  'test/peers/dashboard/overview.test.ts',
  'test/peers/dashboard/templates.test.ts',
];

/** Processes for all other files. More cost CPU (2 s per start); fewer make the run wait for the last one. */
const SHARED_UNITS = 8;

/** How many of these begin after each long one, as long as there are any. */
const SHARED_EACH = 2;

/**
 * Distributes test files over processes, in starting order: the longest first, as a late one would be waited for alone;
 * those for other files in between, as they use a core while most long ones wait. Each file is in exactly one process.
 */
export function plan(files: readonly string[]): readonly Unit[] {
  const long = LONG.filter((name) => files.includes(name)).map((name) => ({ name, files: [name] }));
  const others = files.filter((file) => !LONG.includes(file));
  const count = Math.min(SHARED_UNITS, others.length);
  const shared = Array.from({ length: count }, (_, i) => ({
    name: `other files, ${i + 1} of ${count}`,
    files: others.filter((_, j) => j % count === i),
  }));
  const turns = long.flatMap((unit, i) => [unit, ...shared.slice(i * SHARED_EACH, (i + 1) * SHARED_EACH)]);
  return [...turns, ...shared.slice(long.length * SHARED_EACH)];
}
