import * as chai from 'chai';
import { scaleTimeouts } from './deadlines.ts';

scaleTimeouts();

/** Mocha's globals, in every test without an import. */
declare global {
  const expect: Chai.ExpectStatic;
}
Object.assign(globalThis, { expect: chai.expect });

/** Root hooks of every mocha run: an unhandled rejection fails the run, and no test process reads the user's `.env`. */
export const mochaHooks = {
  beforeAll(): void {
    process.env.HARKARA_ENV_FILE = '';
    process.on('unhandledRejection', (reason) => {
      throw reason instanceof Error ? reason : new Error(String(reason));
    });
  },
};
