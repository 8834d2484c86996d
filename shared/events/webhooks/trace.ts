import { isCarried } from '../../messages/document/channel.ts';
import { idTime, type MessageId } from '../../platform/runtime/ids.ts';
import { contextOf, type Span, type SpanContext } from '../../platform/runtime/tracer.ts';
import type { StateChange } from '../catalogue.ts';
import type { DeliveryAttempt, DeliveryDocument } from './delivery.ts';
import { isAcknowledged } from './post.ts';

/**
 * The trace of a message. Each process adds what it did, from what it knows anyway:
 *
 *     message            accepted → the first state that it reached     who settles it
 *     ├ POST /v2/send    the request                                    the gateway
 *     ├ queue            accepted → claimed                             who settles it
 *     ├ submit           claimed → answered, for each carrier asked     who settles it
 *     ├ receipt, read    from state to state                            who settles it
 *     └ webhook <event>  a post                                         the webhook worker
 *
 * A request that made a batch or a schedule is a trace of its own; each message of a batch has a link to it.
 */
const MESSAGE = 'message';
const REQUEST = 'request';

export interface TracedRequest {
  readonly made: string;
  readonly method: string;
  /** The pattern of the path. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly end: Date;
  readonly account: string | undefined;
  /** The caller's span, which ours links to. A caller decides neither what is recorded nor in which trace. */
  readonly caller: SpanContext | undefined;
}

export function requestSpan({ made, method, route, status, ms, end, account, caller }: TracedRequest): Span {
  return {
    ...{ trace: made, key: REQUEST, name: `${method} ${route}`, kind: 'server' },
    // A refused request has no other span.
    ...(made.startsWith('msg_') && status === 200 && { parent: MESSAGE }),
    ...{ start: new Date(end.getTime() - ms), end, link: caller },
    attributes: {
      ...{ 'http.request.method': method, 'http.route': route, 'http.response.status_code': status },
      ...{ 'harkara.account_id': account, 'harkara.id': made },
    },
    error: status >= 500 ? String(status) : undefined,
  };
}

/** The same change makes spans with the same ids. */
export function changeSpans({ message, entry }: StateChange): readonly Span[] {
  const { _id: trace, account, channel, history } = message;
  const attributes = { 'harkara.account_id': account, 'harkara.id': trace, 'harkara.channel': channel };
  const ended = { ...attributes, 'harkara.state': entry.state };
  const error = FAILURES.includes(entry.state) ? (entry.error?.code ?? message.errorCode ?? entry.state) : undefined;
  const part = { trace, parent: MESSAGE, kind: 'internal' } as const;
  const before = history[history.findIndex(({ state }) => state === entry.state) - 1];
  if (before !== undefined) {
    const name = entry.state === 'delivered' || error !== undefined ? 'receipt' : entry.state;
    return [{ ...part, key: entry.state, name, start: before.at, end: entry.at, attributes: ended, error }];
  }
  const batch = 'batch' in message ? message.batch : undefined;
  const accepted = idTime(trace);
  const asked = submitsOf(message);
  const first: Span = {
    ...{ trace, key: MESSAGE, name: MESSAGE, kind: 'internal', start: accepted, end: entry.at, error },
    attributes: { ...ended, 'harkara.batch_id': batch },
    link: batch && contextOf(batch, REQUEST),
  };
  if (entry.state === 'received') return [first];
  const left = asked[0]?.at ?? entry.at;
  return [
    first,
    { ...part, key: 'queue', name: 'queue', start: accepted, end: left, attributes },
    ...asked.map(({ carrier, at, code }, i): Span => {
      const [key, end] = [`submit ${i}`, asked[i + 1]?.at ?? entry.at];
      const to = { ...attributes, 'harkara.carrier': carrier };
      return { ...part, key, name: 'submit', kind: 'client', start: at, end, attributes: to, error: code ?? error };
    }),
  ];
}

const FAILURES: readonly string[] = ['failed', 'expired', 'rejected'];

interface Submit {
  readonly at: Date;
  readonly carrier?: string;
  readonly code?: string;
}

/** The carriers that were asked, in order. */
function submitsOf({ attempts = [], claim, channel }: StateChange['message']): readonly Submit[] {
  const refused = attempts.filter(({ at }) => claim === undefined || at < claim.at);
  // On the chat-app channel the holder of a claim is a lease of ours, no carrier.
  const last = claim && { at: claim.at, ...(isCarried(channel) && { carrier: claim.carrier }) };
  return last === undefined ? refused : [...refused, last];
}

export function postSpanKey({ _id, attempts }: Pick<DeliveryDocument, '_id' | 'attempts'>): string {
  return `post ${_id} ${attempts.length}`;
}

export function postSpan(
  delivery: DeliveryDocument,
  trace: MessageId,
  host: string,
  posted: Pick<DeliveryAttempt, 'result' | 'durationMs'>,
  start: Date,
): Span {
  const { account, endpoint, event, attempts } = delivery;
  const { result, durationMs } = posted;
  return {
    ...{ trace, key: postSpanKey(delivery), parent: MESSAGE, name: `webhook ${event}`, kind: 'client' },
    ...{ start, end: new Date(start.getTime() + durationMs) },
    attributes: {
      ...{ 'http.request.method': 'POST', 'server.address': host },
      'http.response.status_code': typeof result === 'number' ? result : undefined,
      'http.request.resend_count': attempts.length || undefined,
      ...{ 'harkara.account_id': account, 'harkara.id': trace, 'harkara.webhook_id': endpoint },
    },
    error: isAcknowledged(result) ? undefined : String(result),
  };
}
