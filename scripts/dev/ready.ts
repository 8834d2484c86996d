import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';

const LOOK_MS = 100;

/**
 * Waits until the gateway says that it is ready and the simulated carrier has a bind. Throws `StartError` after `timeoutMs`, with
 * the log that says more.
 */
export async function awaitReady(gateway: string, receiver: string, logs: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let missing = '';
  while (performance.now() < deadline) {
    const [ready, bound] = await Promise.all([isReady(`${gateway}/readyz`), isBound(`${receiver}/smsc`)]);
    if (ready && bound) return;
    missing = ready
      ? `the SMPP worker has no bind to the simulated carrier. Its log: ${logs}/smpp-out.log`
      : `the gateway is not ready. Its log: ${logs}/gateway-out.log`;
    await wait(LOOK_MS);
  }
  throw new StartError(`Not ready after ${Math.round(timeoutMs / 1000)} s: ${missing}`);
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false; // Not listening yet.
  }
}

/** Whether the simulator's page about its SMSC shows a bind. */
async function isBound(url: string): Promise<boolean> {
  try {
    const page: unknown = await (await fetch(url)).json();
    if (typeof page !== 'object' || page === null || !('sessions' in page) || !Array.isArray(page.sessions))
      return false;
    return page.sessions.some((session: { kind?: unknown }) => session.kind !== 'unbound');
  } catch {
    return false; // Not listening yet.
  }
}
