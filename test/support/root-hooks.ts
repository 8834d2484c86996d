import * as chai from 'chai';
import { scaleTimeouts } from './deadlines.ts';

scaleTimeouts();

/** Like mocha's `describe` and `it`, in every test without an import. */
declare global {
  const expect: Chai.ExpectStatic;
}
Object.assign(globalThis, { expect: chai.expect });

/**
 * Root hooks of every mocha run: a rejected promise that nobody handles fails the run instead of vanishing; no process of a test reads
 * the `.env` of whoever runs it.
 */
export const mochaHooks = {
  beforeAll(): void {
    process.env.HARKARA_ENV_FILE = '';
    process.on('unhandledRejection', (reason) => {
      throw reason instanceof Error ? reason : new Error(String(reason));
    });
  },
};
