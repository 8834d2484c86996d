import { hash } from 'node:crypto';
import type { Counter } from 'prom-client';
import { errorFields, type Log, type LogFields } from './log.ts';
import type { Metrics } from './metrics.ts';
import { within } from './within.ts';

/**
 * OpenTelemetry spans of one process, posted to a collector as OTLP over HTTP in JSON
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp). Every id is derived from what the trace is about, so the
 * processes that a message passes add to one trace, and nothing is stored or handed on for it (docs/decisions/0064).
 */
export interface Span {
  /** The id of a message, batch or schedule. */
  readonly trace: string;
  /** Unique in the trace. */
  readonly key: string;
  /** The key of the span that contains it. Absent: it is the first of its trace. */
  readonly parent?: string;
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  readonly start: Date;
  readonly end: Date;
  /** Undefined values are left out. Never a message text, a person's number, or a secret. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly error?: string | undefined;
  /** A span of another trace that led to this one. */
  readonly link?: SpanContext | undefined;
}

export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** `SpanKind` of opentelemetry/proto/trace/v1/trace.proto. */
const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

/** Some megabytes. What comes beyond that while the collector does not answer is dropped. */
const WAITING_MAX = 8_192;
/** Per post, which takes about a millisecond to serialize. */
const POST_MAX = 256;
const GATHER_MS = 1_000;
const ANSWER_MS = 5_000;
const LONGEST_PAUSE_MS = 30_000;
/** How long a stop waits for the collector to take what is left. */
const STOP_MS = 1_000;

interface TracerOptions {
  /** Like `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** How many traces are recorded. All processes decide alike. */
  readonly percent: number;
  /** Shown as the service `harkara-<app>`. */
  readonly app: string;
  /** Tells the process from others of the app. */
  readonly instance: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

export class Tracer {
  readonly #options: TracerOptions;
  readonly #counter: Counter<'result'>;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #posting: Promise<void> | undefined;
  /** After a failed post; doubles with each further one. */
  #pauseMs = 0;
  #stopped = false;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#counter = options.metrics.counter(
      'trace_spans_total',
      'Spans for the collector, by what became of them: sent, refused by it, or dropped because it did not answer.',
      ['result'],
    );
  }

  records(trace: string): boolean {
    const part = Number.parseInt(digest(trace, '').slice(0, 8), 16) / 2 ** 32;
    return part * 100 < this.#options.percent;
  }

  /** For traces that are recorded. Never waits, never throws. */
  add(spans: readonly Span[]): void {
    const room = this.#stopped ? 0 : Math.max(0, WAITING_MAX - this.#waiting.length);
    this.#waiting.push(...spans.slice(0, room));
    if (spans.length > room) this.#counter.inc({ result: 'dropped' }, spans.length - room);
    if (this.#waiting.length >= POST_MAX && this.#pauseMs === 0) void this.#post();
    else this.#later(GATHER_MS);
  }

  /** Sends what is left, once, and drops what the collector does not take in time. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await within(STOP_MS, this.#finish());
    if (this.#waiting.length > 0) this.#counter.inc({ result: 'dropped' }, this.#waiting.length);
    this.#waiting = [];
  }

  async #finish(): Promise<void> {
    await this.#posting;
    for (let left = Number.POSITIVE_INFINITY; this.#waiting.length > 0 && this.#waiting.length < left; ) {
      left = this.#waiting.length;
      await this.#post();
    }
  }

  #later(ms: number): void {
    if (this.#stopped || this.#posting !== undefined || this.#waiting.length === 0) return;
    this.#timer ??= setTimeout(() => void this.#post(), Math.max(ms, this.#pauseMs));
  }

  /** One post at a time. Never rejects. */
  #post(): Promise<void> {
    this.#posting ??= this.#postFirst().finally(() => {
      this.#posting = undefined;
      this.#later(this.#waiting.length >= POST_MAX ? 0 : GATHER_MS);
    });
    return this.#posting;
  }

  async #postFirst(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const spans = this.#waiting.slice(0, POST_MAX);
    const trouble = await this.#send(spans);
    if (trouble === undefined || trouble.refused) {
      this.#pauseMs = 0;
      this.#waiting = this.#waiting.slice(spans.length);
      this.#counter.inc({ result: trouble === undefined ? 'sent' : 'refused' }, spans.length);
      return;
    }
    this.#pauseMs = Math.min(Math.max(GATHER_MS, this.#pauseMs * 2), LONGEST_PAUSE_MS);
  }

  /** Undefined: taken. `refused`: it would refuse the same again. */
  async #send(spans: readonly Span[]): Promise<{ readonly refused: boolean } | undefined> {
    try {
      const answer = await fetch(this.#options.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(this.#document(spans)),
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      await answer.body?.cancel();
      if (answer.ok) return undefined;
      this.#warn({ status: answer.status });
      return { refused: !RETRYABLE.includes(answer.status) };
    } catch (error) {
      // `fetch` hides what happened in the cause.
      this.#warn(errorFields(error instanceof Error && error.cause !== undefined ? error.cause : error));
      return { refused: false };
    }
  }

  /** Once for each time that the collector goes away. */
  #warn(fields: LogFields): void {
    if (this.#pauseMs === 0) this.#options.log.warn('traces_not_sent', fields);
  }

  /** `ExportTraceServiceRequest` in the JSON form of OTLP: ids in hexadecimal, nanoseconds as texts. */
  #document(spans: readonly Span[]): object {
    const { app, instance } = this.#options;
    const resource = { 'service.name': `harkara-${app}`, 'service.instance.id': instance };
    return {
      resourceSpans: [
        {
          resource: { attributes: attributesOf(resource) },
          scopeSpans: [{ scope: { name: 'harkara' }, spans: spans.map(spanOf) }],
        },
      ],
    };
  }
}

/** Statuses of OTLP/HTTP after which to try again; other refusals are final. */
const RETRYABLE = [429, 502, 503, 504];

function spanOf({ trace, key, parent, name, kind, start, end, attributes, error, link }: Span): object {
  return {
    ...contextOf(trace, key),
    ...(parent === undefined ? {} : { parentSpanId: contextOf(trace, parent).spanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(start),
    // The clocks of two machines may differ.
    endTimeUnixNano: nanoseconds(end < start ? start : end),
    attributes: attributesOf(error === undefined ? attributes : { ...attributes, 'error.type': error }),
    ...(error === undefined ? {} : { status: { code: STATUS_ERROR } }),
    ...(link === undefined ? {} : { links: [link] }),
  };
}

function attributesOf(attributes: Span['attributes']): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return { key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } };
  });
}

function nanoseconds(at: Date): string {
  return `${at.getTime()}000000`;
}

export function contextOf(trace: string, key: string): SpanContext {
  return { traceId: digest(trace, '').slice(0, 32), spanId: digest(trace, key).slice(0, 16) };
}

function digest(trace: string, key: string): string {
  return hash('sha256', `${trace} ${key}`);
}

/** The header of a recorded span (https://www.w3.org/TR/trace-context/). */
export function traceparent({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:-|$)/;

/** Undefined unless the header is well-formed. */
export function spanOfCaller(header: string | readonly string[] | undefined): SpanContext | undefined {
  const [, traceId, spanId] = typeof header === 'string' ? (TRACEPARENT.exec(header) ?? []) : [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}
