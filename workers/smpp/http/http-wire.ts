import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { CommandStatusClass } from '../../../shared/carriers/command-status.ts';
import { type Exchange, HttpClient } from '../../../shared/carriers/http/client.ts';
import { type Connected, tryConnection } from '../../../shared/carriers/http/connection.ts';
import { readTree, wordsAt } from '../../../shared/carriers/http/places.ts';
import {
  type AnswerMeaning,
  HTTP,
  type HttpSettings,
  type NamedTemplate,
  type Placeholder,
} from '../../../shared/carriers/settings/http.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { tlsOptions } from '../../../shared/carriers/smpp/socket.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { Refusal } from '../claim/departures.ts';
import { type CarrierAnswer, CLASSES, type Wire, type WireEvents, type WireSession } from '../session/wire.ts';
import { destinationAddress, sourceAddress } from '../submit/address-forms.ts';
import { carrierForm, RECIPIENT_UNFIT, SENDER_UNFIT, textFor } from '../submit/encode.ts';
import type { Frame } from '../submit/submission.ts';

type HttpSendable = Pick<MessageDocument, '_id' | 'sender' | 'to' | 'text' | 'encoding' | 'template' | 'entityId'>;

interface RequestWriterOptions {
  readonly carrier: Pick<
    CarrierDocument,
    'host' | 'port' | 'tls' | 'systemId' | 'http' | 'addresses' | 'texts' | 'submits'
  >;
  readonly password: string;
  readonly callback: string;
}

type Told = Partial<Record<Placeholder, string>>;

/** Writes a message's one request as the carrier's settings describe it: the carrier splits long texts. Pure. */
export function requestWriter(options: RequestWriterOptions): (message: HttpSendable) => Frame | Refusal {
  const { carrier, password, callback } = options;
  const form = carrierForm(carrier);
  const { systemId: user } = carrier;
  const own: Told = { user, password, basic: Buffer.from(`${user}:${password}`).toString('base64'), callback };
  const {
    requestMethod: method,
    requestPath,
    requestHeaders,
    requestForm,
    requestJson,
  } = withDefaults(HTTP, carrier.http);
  const url = `${originOf(carrier)}${filled(requestPath, own, encodeURIComponent) ?? '/'}`;
  const ownHeaders = Object.fromEntries(
    requestHeaders.map(({ name, template }) => [name, filled(template, own) ?? '']),
  );
  const json: unknown = requestJson === '' ? undefined : JSON.parse(requestJson);
  return (message) => {
    const source = sourceAddress(message.sender, form.addresses);
    if (source === undefined) return SENDER_UNFIT;
    const destination = destinationAddress(message.to, form.addresses);
    if (destination === undefined) return RECIPIENT_UNFIT;
    const { _id: id, encoding, template, entityId: entity } = message;
    const told: Told = {
      ...own,
      ...{ to: destination.digits, sender: source.digits, id },
      text: textFor(message, form.texts),
      unicode: encoding === 'UCS2' ? '1' : '0',
      ...(template === undefined ? {} : { template }),
      ...(entity === undefined ? {} : { entity }),
    };
    if (json !== undefined) {
      const headers = { ...ownHeaders, 'content-type': 'application/json' };
      return { frame: Buffer.from(JSON.stringify(filledTree(json, told))), target: { method, url, headers } };
    }
    const fields = formOf(requestForm, told);
    if (method === 'GET') {
      const query = `${url.includes('?') ? '&' : '?'}${fields}`;
      return { frame: Buffer.alloc(0), target: { method, url: url + query, headers: ownHeaders } };
    }
    const headers = { ...ownHeaders, 'content-type': 'application/x-www-form-urlencoded' };
    return { frame: Buffer.from(fields), target: { method, url, headers } };
  };
}

function originOf({ host, port, tls }: Pick<CarrierDocument, 'host' | 'port' | 'tls'>): string {
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function formOf(fields: readonly NamedTemplate[], told: Told): string {
  const form = new URLSearchParams();
  for (const { name, template } of fields) {
    const value = filled(template, told);
    if (value !== undefined) form.append(name, value);
  }
  return form.toString();
}

/** A template with its values. Undefined when the message lacks one of them. */
function filled(template: string, told: Told, written: (value: string) => string = String): string | undefined {
  let lacks = false;
  const text = template.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => {
    const value = (told as Readonly<Record<string, string | undefined>>)[name];
    lacks ||= value === undefined;
    return written(value ?? '');
  });
  return lacks ? undefined : text;
}

/** JSON whose strings are templates. Members without a value are left out, and an object that becomes empty by that. */
function filledTree(tree: unknown, told: Told): unknown {
  if (typeof tree === 'string') return filled(tree, told);
  if (Array.isArray(tree)) return tree.map((one) => filledTree(one, told)).filter((one) => one !== undefined);
  if (typeof tree !== 'object' || tree === null) return tree;
  const members = Object.entries(tree).map(([name, one]) => [name, filledTree(one, told)] as const);
  const left = members.filter(([, one]) => one !== undefined);
  return left.length === 0 && members.length > 0 ? undefined : Object.fromEntries(left);
}

/** An answer has some hundred bytes, but a proxy's error page can be long. */
const ANSWER_BYTES_MAX = 65_536;

/** Requests over HTTPS behind the port of sessions: one session per bind, up to `windowSize` requests in flight. */
export function httpWire<Context extends Frame>(carrier: CarrierDocument): Wire<Context> {
  return { sessions: 1, turns: 1, open: (_, _turn, events) => new HttpSession<Context>(carrier, events) };
}

/**
 * A session is usable when a connection could be made, which sends nothing. It ends when a request finds no connection,
 * or when its owner ends it: an address that does not answer is tried again with growing pauses, as a host of SMPP is.
 * Requests in flight are awaited first, so that no answer is lost that still comes.
 */
class HttpSession<Context extends Frame> implements WireSession<Context> {
  readonly congested = false;
  certificateUntil: Date | undefined;
  readonly #client: HttpClient;
  readonly #events: WireEvents<Context>;
  readonly #read: ReturnType<typeof httpAnswers>;
  readonly #cancel: () => void;
  readonly #inFlight = new Set<Context>();
  readonly #unwritten: Context[] = [];
  #state: 'connecting' | 'open' | 'ending' | 'closed' = 'connecting';
  #reason = 'ended';

  constructor(carrier: CarrierDocument, events: WireEvents<Context>) {
    this.#events = events;
    this.#read = httpAnswers(carrier.http);
    const { host, tls, trust, windowSize, responseTimeoutMs: timeoutMs } = carrier;
    this.#client = new HttpClient({
      ...{ sockets: windowSize, idleSockets: windowSize, timeoutMs },
      ...(tls ? { tls: tlsOptions(host, trust) } : {}),
    });
    this.#cancel = tryConnection(carrier, (connected) => this.#tried(connected));
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  #tried(connected: Connected): void {
    if (this.#state !== 'connecting') return;
    if ('code' in connected) {
      this.destroy(connected.code);
      return;
    }
    this.certificateUntil = connected.certificateUntil;
    this.#state = 'open';
    this.#events.onOpen();
  }

  async bind(): Promise<number> {
    return 0;
  }

  submit(context: Context): void {
    this.#inFlight.add(context);
    void this.#request(context);
  }

  async #request(context: Context): Promise<void> {
    const { target, frame } = context;
    if (target === undefined) throw new TypeError('a request has a target');
    const exchange = await this.#client.exchange({
      ...target,
      ...(target.method === 'POST' ? { body: frame } : {}),
      answerBytesMax: ANSWER_BYTES_MAX,
    });
    // The wire has ended, and the owner knows that this answer is lost.
    if (!this.#inFlight.delete(context)) return;
    if (exchange.kind === 'not_sent') {
      this.#unwritten.push(context);
      this.#end(exchange.code);
    } else {
      const answer = exchange.kind === 'answered' ? this.#read(exchange) : undefined;
      if (answer === undefined) this.#events.onTimeout(context);
      else this.#events.onAnswer(context, answer);
    }
    this.#closeIfDone();
  }

  async unbind(): Promise<void> {}

  /** Receipts come in at the gateway. */
  pauseReading(): void {}

  end(): void {
    this.#end('ended');
  }

  /** Cuts off what is in flight: nobody knows then whether the carrier took it. */
  destroy(reason: string): void {
    if (this.#state === 'closed') return;
    this.#end(reason);
    this.#close();
  }

  #end(reason: string): void {
    if (this.#state === 'ending' || this.#state === 'closed') return;
    this.#state = 'ending';
    this.#reason = reason;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#state === 'ending' && this.#inFlight.size === 0) this.#close();
  }

  #close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const unanswered = [...this.#inFlight];
    this.#inFlight.clear();
    this.#cancel();
    this.#client.close();
    // Not in this turn: whoever ends it is not done yet.
    setImmediate(() => this.#events.onClose(this.#reason, { unanswered, unwritten: this.#unwritten }));
  }
}

const MEANINGS: Readonly<Record<AnswerMeaning['means'], CommandStatusClass>> = { accepted: 'accepted', ...CLASSES };

/** The longest message_id of SMPP 3.4, which keys of messages keep (dialect/message-ids.ts). */
const MAX_ID = 65;
const MAX_CODE = 40;

/**
 * Reads the answers of an HTTP carrier: its own codes as its settings say, then the HTTP status. Undefined when it is
 * unknown whether the carrier took the message: a success without an id, or a proxy's 502 or 504, which passed the
 * request on and got nothing back (RFC 9110 §15.6).
 */
export function httpAnswers(
  settings: Partial<HttpSettings> | undefined,
): (answer: Extract<Exchange, { readonly kind: 'answered' }>) => CarrierAnswer | undefined {
  const { answerId, answerCode, answerClass } = withDefaults(HTTP, settings);
  const meanings = new Map(answerClass.map((one) => [one.code, one]));
  return ({ status, body, retryAfterMs }) => {
    const tree = readTree(body);
    const codes = wordsAt(tree, answerCode, MAX_CODE);
    const plain = `http_${status}`;
    const known = [...codes, plain].map((code) => meanings.get(code)).find((one) => one !== undefined);
    const meaning = known === undefined ? classOf(status) : MEANINGS[known.means];
    const [messageId = ''] = meaning === 'accepted' ? wordsAt(tree, answerId, MAX_ID) : [];
    if (meaning === undefined || (meaning === 'accepted' && messageId === '' && known === undefined)) return undefined;
    const code = codes[0] ?? plain;
    const wants = meaning === 'throttled' || meaning === 'retry' ? retryAfterMs : undefined;
    const pauseMs = known?.pauseSeconds === undefined ? wants : known.pauseSeconds * 1_000;
    return {
      meaning,
      code,
      // Not in the carrier's words: they may quote the number and the text.
      reason: `The carrier answered HTTP ${status}${code === plain ? '' : `, code ${code}`}`,
      messageId,
      ...(pauseMs === undefined ? {} : { pauseMs }),
      ...(meaning === 'throttled' || status === 429 ? { isBusy: true } : {}),
    };
  };
}

/**
 * By the status alone. Redirects (never followed), 401, 403, 404 and 405 concern our settings: every message would get
 * them. 5xx is the carrier's own statement that it failed.
 */
function classOf(status: number): CommandStatusClass | undefined {
  if (status >= 200 && status < 300) return 'accepted';
  if (status === 502 || status === 504) return undefined;
  if (status === 429) return 'throttled';
  if (status >= 500 || status === 408 || status === 425) return 'retry';
  if (status < 400 || [401, 403, 404, 405].includes(status)) return 'bind';
  return 'rejected';
}
