import { useEffect, useState } from 'preact/hooks';
import { session } from './session.ts';

/**
 * Values that the gateway tells as they change. One stream a tab tells all that is shown (browsers allow six connections to one
 * host), and none while nobody looks at the tab.
 */
type Listener = (value: unknown) => void;

/** Components come and go together when the page changes: the stream is opened once for all of them. */
const SETTLE_MS = 50;
/** After an answer that was no stream, then twice as long each time. A stream that only ended is opened again by the browser. */
const AGAIN_MS = 15_000;
const AGAIN_MS_MAX = 300_000;

const listeners = new Map<string, Set<Listener>>();
/** The last value of each event, for who listens later. */
const known = new Map<string, unknown>();
let stream: EventSource | undefined;
/** The events that the open stream has. */
let told = '';
let timer: ReturnType<typeof setTimeout> | undefined;
let againMs = AGAIN_MS;

/** The newest value of an event, such as `balance`; undefined until the first one has come. docs/openapi.json lists the events. */
export function useLive<T>(name: string): T | undefined {
  const [value, setValue] = useState<T | undefined>(known.get(name) as T | undefined); // what the event has is in the document
  useEffect(() => {
    const listener: Listener = (next) => setValue(next as T);
    const all = listeners.get(name) ?? new Set();
    listeners.set(name, all.add(listener));
    settle(SETTLE_MS);
    return () => {
      all.delete(listener);
      if (all.size > 0) return;
      listeners.delete(name);
      known.delete(name);
      settle(SETTLE_MS);
    };
  }, [name]);
  return value;
}

document.addEventListener('visibilitychange', () => settle(SETTLE_MS));
// Whoever signs in again over an open page goes on where the stream ended.
session.subscribe(() => settle(SETTLE_MS));

function settle(ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(reopen, ms);
}

/** Opens the stream that tells what is listened to now, if it is another one. */
function reopen(): void {
  const names = document.hidden || !session.value ? [] : [...listeners.keys()].sort();
  const wanted = names.join(',');
  if (wanted === told && stream?.readyState !== EventSource.CLOSED) return;
  stream?.close();
  stream = undefined;
  told = wanted;
  if (wanted === '') return;
  const path = session.value?.scopes.includes('admin') ? '/v2/admin/stream' : '/v2/account/stream';
  const opened = new EventSource(`${path}?events=${wanted}&user=${session.value?.user.user_id}`);
  stream = opened;
  for (const name of names) {
    opened.addEventListener(name, ({ data }) => {
      const value: unknown = JSON.parse(data);
      known.set(name, value);
      for (const listener of listeners.get(name) ?? []) listener(value);
    });
  }
  // The session has ended: the next call of the page asks to sign in.
  opened.addEventListener('end', () => opened.close());
  opened.addEventListener('error', () => {
    if (opened !== stream || opened.readyState !== EventSource.CLOSED) return;
    settle(againMs);
    againMs = Math.min(againMs * 2, AGAIN_MS_MAX);
  });
  opened.addEventListener('open', () => {
    againMs = AGAIN_MS;
  });
}
