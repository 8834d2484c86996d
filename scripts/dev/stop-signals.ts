/** npm forwards the signal that the terminal has sent to the whole process group. Two signals within this time count as one. */
const SAME_MS = 1_000;
const PARENT_LOOK_MS = 1_000;

/**
 * Returns a signal that is aborted at the first Ctrl-C (SIGINT, SIGTERM, SIGHUP), or when the npm that runs this program is gone.
 * Calls `again` at every further one.
 */
export function stopSignals(again: () => void): AbortSignal {
  const stopping = new AbortController();
  let lastMs = Number.NEGATIVE_INFINITY;
  const hear = (): void => {
    const same = performance.now() - lastMs < SAME_MS;
    if (!same) lastMs = performance.now();
    if (!stopping.signal.aborted) stopping.abort();
    else if (!same) again();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, hear);
  if (process.env.npm_lifecycle_event === 'start') {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid !== parent && !stopping.signal.aborted) stopping.abort();
    }, PARENT_LOOK_MS);
    timer.unref();
  }
  return stopping.signal;
}
