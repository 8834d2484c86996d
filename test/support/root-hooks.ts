/** Root hooks of every mocha run: a rejected promise that nobody handles fails the run instead of vanishing. */
export const mochaHooks = {
  beforeAll(): void {
    process.on('unhandledRejection', (reason) => {
      throw reason instanceof Error ? reason : new Error(String(reason));
    });
  },
};
