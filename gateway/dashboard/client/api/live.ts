import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { AUTOMATIC, get, looking, lookQuery, queryText, testing } from './http.ts';
import { hasAccount, session } from './session.ts';

/**
 * Gets each value that the gateway tells as it changes. A tab has one stream for all that it shows (browsers allow six connections
 * to one host), and none while nobody looks at the tab.
 */
type Listener = (value: unknown) => void;

/** Components come and go together when the page changes: the stream is opened once for all of them. */
const GATHER_MS = 50;
/** After an answer that was no stream, then twice as long each time. A stream that only ended is opened again by the browser. */
const AGAIN_MS = 15_000;
const AGAIN_MS_MAX = 60_000;
/** A gateway that restarts is back within this time. */
const SILENT_MS = 10_000;

/** A page listens, but the stream is not open: what it shows may be old. */
export const isSilent = signal(false);

const listeners = new Map<string, Set<Listener>>();
/** The last value of each event, for components that appear later. */
const known = new Map<string, unknown>();
let stream: EventSource | undefined;
/** The events that the open stream has. */
let told = '';
let timer: ReturnType<typeof setTimeout> | undefined;
let againMs = AGAIN_MS;
let againTimer: ReturnType<typeof setTimeout> | undefined;
let silentTimer: ReturnType<typeof setTimeout> | undefined;

/** The newest value of an event, such as `balance`; undefined until the first one has come. /openapi.json lists the events. */
export function useLive<T>(name: string): T | undefined {
  const [value, setValue] = useState<T | undefined>(known.get(name) as T | undefined); // what the event has is in the document
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
// A sign-in over an open page opens the stream again that ended with the session.
session.subscribe(reopenSoon);
for (const which of [looking, testing]) {
  which.subscribe(() => {
    known.clear(); // They are of another account.
    reopenSoon();
  });
}

function reopenSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(reopen, GATHER_MS);
}

/** Opens the stream that tells what is listened to now, if it is another one. */
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

/** The stream was refused or ended, and the browser does not open it again. */
async function lose(): Promise<void> {
  // When the session has ended, this asks to sign in, and is answered after that.
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
