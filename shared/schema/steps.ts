import type { Db } from 'mongodb';

/** What a step may use. */
export interface StepDeps {
  readonly db: Db;
  /** Where an interrupted run of the step had come to. */
  readonly walked: string | undefined;
  /** Call it after each slice: it stores how far the step has come. Throws when another process has taken over. */
  passed(walked: string): Promise<void>;
}

/**
 * A change of what earlier versions of the program stored. It may be interrupted anywhere and then runs again; two processes may
 * run it at once for a moment. Older processes may still write while it runs (a rolling update), so a step adds what the new
 * version needs. What the old version needs is removed by a step of a later version.
 */
export interface Step {
  readonly to: number;
  run(deps: StepDeps): Promise<void>;
}

/** The schema that the first release begins with. Builds from before it left stores with lower numbers, which are refused. */
export const FIRST_SCHEMA = 5;

/** In order, without a gap, from the first schema on. A released step never changes. */
export const STEPS: readonly Step[] = [];
