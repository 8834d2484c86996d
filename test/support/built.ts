import { join } from 'node:path';
import { build, ROOT } from '../../scripts/bench/build.ts';

/** Set by `npm test`, which has built before its processes start: none needs to ask the compiler again. */
const BUILT = 'HARKARA_TEST_BUILT';
let built: Promise<string> | undefined;

/** The folder of the product's build, made once per test run. A process starts from it in half the time that tsx takes. */
export function builtProduct(): Promise<string> {
  built ??= process.env[BUILT] === undefined ? build() : Promise.resolve(join(ROOT, 'dist'));
  return built;
}

/** Builds, and says so to the processes that this one starts. */
export async function buildForAll(): Promise<void> {
  await build();
  process.env[BUILT] = 'yes';
}
