import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { AUTOMATIC, get, looking, lookQuery, queryText, testing } from './http.ts';
import { hasAccount, session } from './session.ts';

/**
 * Live values from the event stream. A tab has one stream for everything it shows, because browsers allow six
 * connections to one host, and none while the tab is hidden.
 */
type Listener = (value: unknown) => void;

/** Components mount and unmount together when the page changes, so the stream is reopened once for all. */
const GATHER_MS = 50;
/** Doubled after each refusal. A stream that merely ended is reopened by the browser. */
const AGAIN_MS = 15_000;
const AGAIN_MS_MAX = 60_000;
/** A restarting gateway is back within this time. */
const SILENT_MS = 10_000;

/** True while a page listens and the stream is not open: its values may be old. */
export const isSilent = signal(false);

const listeners = new Map<string, Set<Listener>>();
/** The last value of each event, for components that appear later. */
const known = new Map<string, unknown>();
let stream: EventSource | undefined;
/** The event names of the open stream. */
let told = '';
let timer: ReturnType<typeof setTimeout> | undefined;
let againMs = AGAIN_MS;
let againTimer: ReturnType<typeof setTimeout> | undefined;
let silentTimer: ReturnType<typeof setTimeout> | undefined;

/** The newest value of an event of /openapi.json, such as `balance`; undefined until the first has come. */
export function useLive<T>(name: string): T | undefined {
  const [value, setValue] = useState<T | undefined>(known.get(name) as T | undefined); // typed by /openapi.json
  useEffect(() => {
    const listener: Listener = (next) => setValue(next as T);
    const all = listeners.get(name) ?? new Set();
    listeners.set(name, all.add(listener));
    reopenSoon();
    return () => {
      all.delete(listener);
      if (all.size > 0) return;
      listeners.delete(name);
      known.delete(name);
      reopenSoon();
    };
  }, [name]);
  return value;
}

document.addEventListener('visibilitychange', reopenSoon);
// Signing in again reopens the stream that ended with the session.
session.subscribe(reopenSoon);
for (const which of [looking, testing]) {
  which.subscribe(() => {
    known.clear(); // The values belong to another account.
    reopenSoon();
  });
}

function reopenSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(reopen, GATHER_MS);
}

/** Reopens the stream if the set of events has changed. */
function reopen(): void {
  const names = document.hidden || !session.value ? [] : [...listeners.keys()].sort();
  const wanted = names.join(',');
  const { account = '', mode = '' } = lookQuery();
  const wantedOf = wanted && `${wanted} ${account} ${mode}`;
  if (wantedOf === told && stream?.readyState !== EventSource.CLOSED) return;
  stream?.close();
  stream = undefined;
  told = wantedOf;
  if (wanted === '') {
    hear();
    return;
  }
  const path = hasAccount() ? '/v2/account/stream' : '/v2/admin/stream';
  const query = queryText({ events: wanted, user: session.value?.user.user_id, account, mode });
  const opened = new EventSource(path + query);
  stream = opened;
  for (const name of names) {
    opened.addEventListener(name, ({ data }) => {
      const value: unknown = JSON.parse(data);
      known.set(name, value);
      for (const listener of listeners.get(name) ?? []) listener(value);
    });
  }
  opened.addEventListener('end', () => {
    opened.close();
    if (opened === stream) void lose();
  });
  opened.addEventListener('error', () => {
    if (opened !== stream) return;
    silentTimer ??= setTimeout(() => {
      isSilent.value = true;
    }, SILENT_MS);
    if (opened.readyState === EventSource.CLOSED) void lose();
  });
  opened.addEventListener('open', () => {
    againMs = AGAIN_MS;
    hear();
  });
}

/** For a stream that was refused or ended and that the browser does not reopen. */
async function lose(): Promise<void> {
  // If the session has ended, this call waits until the user has signed in again.
  await get('/v2/profile', {}, { headers: AUTOMATIC }).catch(() => undefined);
  clearTimeout(againTimer);
  againTimer = setTimeout(reopen, againMs);
  againMs = Math.min(againMs * 2, AGAIN_MS_MAX);
}

function hear(): void {
  clearTimeout(silentTimer);
  silentTimer = undefined;
  isSilent.value = false;
}
