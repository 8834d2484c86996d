/** Test files that one mocha process runs. */
export interface Unit {
  readonly name: string;
  readonly files: readonly string[];
}

/**
 * Whether a file belongs to `npm run test:faults`: crash points, kills, fencing, fairness, a store in trouble, hostile bytes, and
 * whatever takes long. Its name says so: it ends with `faults` before the usual ending.
 */
export function isFaults(path: string): boolean {
  return /[./]faults\.test\.ts$/.test(path);
}

/** Files that are worth a process of their own, longest first (measured). A wrong order or a missing file only costs time. */
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

/** Processes for all other files. More cost more CPU: 2 s for each start. With fewer, the run waits longer for the last one. */
const SHARED_UNITS = 8;

/** How many of these begin after each long one, as long as there are any. */
const SHARED_EACH = 2;

/**
 * Deals test files out to processes, in the order in which these are to begin. The longest come first: if one began last, the
 * run would wait for it alone. Those for other files begin in between: they use a core, while most of the long ones wait for
 * processes and deadlines. Each file goes to exactly one process.
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
