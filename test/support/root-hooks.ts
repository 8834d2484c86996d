import { scaleTimeouts } from './deadlines.ts';

scaleTimeouts();

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
