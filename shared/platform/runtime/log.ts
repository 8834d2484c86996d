import { openSync } from 'node:fs';
import { pino } from 'pino';

/**
 * One JSON line per fact. Values are flat scalars, so that no document, body or PDU can get in. Phone numbers are
 * masked and message text is hidden here. Expected failures are `info`; `error` means that someone should look.
 */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** Writes what is buffered; called once, when the process ends. */
  flush(): void;
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const FLUSH_MS = 200;
/** Characters in memory while the log cannot be written. Further lines are dropped. */
const WAITING_MAX = 4 * 1024 * 1024;
/** Names whose value is message text or a secret, whoever logs them. */
const HIDDEN = new Set(['text', 'message', 'body', 'password', 'secret', 'token', 'authorization', 'key']);
/** A run of digits as long as a phone number (E.164 has at most 15) that is not part of an id or a longer word. */
const PHONE_NUMBER = /(?<![0-9A-Za-z_.])\+?\d{8,15}(?![0-9A-Za-z_])/g;

/** `919876543210` → `9198******10`: enough to recognise a carrier's prefix, not a person. */
export function maskNumber(number: string): string {
  return number.length < 8 ? number : `${number.slice(0, 4)}${'*'.repeat(number.length - 6)}${number.slice(-2)}`;
}

/** Masks numbers in a text, however people write them: `98765 43210`. Ids have letters between. */
export function maskNumbers(asked: string): string {
  return asked.replaceAll(/\d(?:[\s().+/-]{0,2}\d){7,}/g, (written) => maskNumber(written.replaceAll(/\D/g, '')));
}

/** `file`: write lines there instead of to standard output. */
export function createLog(name: string, level: LogLevel, file?: string): Log {
  // Buffered: a write per line would cost more than the request it describes. Opened synchronously: a process that
  // fails to start would otherwise end before the file is open and lose its last lines.
  const dest = file === undefined ? 1 : openSync(file, 'a');
  const destination = pino.destination({ dest, sync: false, minLength: 12_288, maxLength: WAITING_MAX });
  // A full disk must not end the process. Lines wait, and each flush tries again.
  let failing = false;
  let ended = false;
  destination.on('error', () => {
    failing = true;
  });
  destination.on('write', () => {
    failing = false;
  });
  let timer: NodeJS.Timeout | undefined;
  // A timer only while lines wait: a fixed interval would wake a quiet process five times a second.
  const flushSoon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      destination.flush();
    }, FLUSH_MS).unref();
  };
  const logger = pino(
    { name, level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
  const write =
    (at: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields?: LogFields): void => {
      if (ended) return;
      logger[at](clean(fields), event);
      flushSoon();
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    flush: () => {
      clearTimeout(timer);
      // While nothing can be written it would try again without end, also when the process exits.
      ended = failing;
      if (failing) destination.destroy();
      else destination.flushSync();
    },
  };
}

export function clean(fields: LogFields = {}): LogFields {
  const out: Record<string, LogFields[string]> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (HIDDEN.has(name)) out[name] = '[hidden]';
    else out[name] = typeof value === 'string' ? value.replace(PHONE_NUMBER, maskNumber) : value;
  }
  return out;
}

/** Never a stack, which could quote a document. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined;
  return { error: error.message, error_name: error.name, error_code: code };
}

const FRAMES = 6;
/** A frame of a stack: the function, if it has a name, and the file from our folders or from node_modules on. */
const FRAME = /^ +at (?:(.+?) \()?.*?((?:gateway|workers|shared|scripts|node_modules)\/[^)]*:\d+):\d+\)?$/;

/** For an error that nobody expected: also where it was thrown; from the stack only what cannot quote a document. */
export function unexpectedErrorFields(error: unknown): LogFields {
  const frames = error instanceof Error ? (error.stack?.split('\n') ?? []) : [];
  const places = frames.flatMap((line) => {
    const [, name, place] = FRAME.exec(line) ?? [];
    return place === undefined ? [] : [name === undefined ? place : `${name} ${place}`];
  });
  return { ...errorFields(error), thrown_at: places.slice(0, FRAMES).join(' < ') || undefined };
}
