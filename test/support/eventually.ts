/**
 * Waits until `check` returns something truthy and gives it back; fails with the last error or value when `timeoutMs`
 * is over. The only way a test waits for another process: a condition with a deadline, never a sleep.
 */
export async function eventually<T>(check: () => T | Promise<T>, what: string, timeoutMs = 10_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  do {
    try {
      const value = await check();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  } while (performance.now() < deadline);
  throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: last });
}
