/** Test files that one mocha process runs. */
export interface Unit {
  readonly name: string;
  readonly files: readonly string[];
}

export interface Plan {
  /** In the order in which they are to begin: the longest first, or the last to begin would be the last to end. */
  readonly together: readonly Unit[];
  /** After these, one after the other. */
  readonly alone: readonly Unit[];
}

/** Files that take longer than the rest of their process would, longest first (measured). Order and membership only cost time. */
export const LONG: readonly string[] = [
  'test/flow/crash-points.test.ts',
  'test/flow/chaos.test.ts',
  'test/workers/schedules/process.test.ts',
  'test/workers/chatapp/sending.test.ts',
  'test/flow/schedules.test.ts',
  'test/flow/bulk.test.ts',
  'test/flow/kills.test.ts',
  'test/flow/store-trouble.test.ts',
  'test/workers/chatapp/process.test.ts',
  'test/flow/chatapp.test.ts',
  'test/flow/fairness.test.ts',
  'test/flow/start.test.ts',
  'test/workers/embedded-db/crash.test.ts',
  'test/contract/specification.test.ts',
  'test/flow/fencing.test.ts',
  'test/flow/whole-path.test.ts',
  'test/workers/smpp/hostile-carrier.test.ts',
  'test/shared/conversations/faults.test.ts',
  'test/workers/smpp/faults.test.ts',
  'test/flow/paid-once.test.ts',
];

/** Files that look at how the machine shares its time: a neighbor would be part of the result. */
export const ALONE: readonly string[] = [];

/** Processes for all other files: each takes a second to start, and the last one's end is waited for. */
const SHARED_UNITS = 8;

/** Deals test files out to processes; each file goes to exactly one. */
export function plan(files: readonly string[]): Plan {
  const own = (names: readonly string[]): Unit[] =>
    names.filter((name) => files.includes(name)).map((name) => ({ name, files: [name] }));
  const others = files.filter((file) => !LONG.includes(file) && !ALONE.includes(file));
  const count = Math.min(SHARED_UNITS, others.length);
  const shared = Array.from({ length: count }, (_, i) => ({
    name: `other files, ${i + 1} of ${count}`,
    files: others.filter((_, j) => j % count === i),
  }));
  return { together: [...own(LONG), ...shared], alone: own(ALONE) };
}
