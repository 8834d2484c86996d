import { useEffect, useRef } from 'preact/hooks';
import type { Loaded } from './load.ts';

const FIRST_MS = 3_000;
const MAX_MS = 15_000;

/**
 * Follows what no event of the stream tells, from one answer to the next: every three seconds while it moves, then twice as long
 * each time; not in a tab that nobody looks at. `isOpen`: it may still change.
 */
export function useReadAgain<T>({ data, problem, follow }: Loaded<T>, isOpen: (data: T) => boolean): void {
  const last = useRef({ json: '', pauseMs: FIRST_MS });
  useEffect(() => {
    if (data === undefined || !isOpen(data)) return;
    const json = JSON.stringify(data);
    const pauseMs = json === last.current.json ? Math.min(MAX_MS, last.current.pauseMs * 2) : FIRST_MS;
    last.current = { json, pauseMs };
    const read = () => {
      if (!document.hidden) follow();
    };
    const timer = setTimeout(read, pauseMs);
    document.addEventListener('visibilitychange', read);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', read);
    };
  }, [data, problem, follow]);
}
