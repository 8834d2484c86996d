import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeAtOnce, listenLocally } from './listen.ts';
import { magicNumbers } from './magic-numbers.ts';
import { Delays } from './pace/pace.ts';
import { readBody, sendJson } from './provider/http.ts';
import { STATUS } from './smpp/pdu.ts';
import type { Outcome, ReceiptPlan } from './smsc/receipts.ts';

export interface HttpCarrierOptions {
  /** TCP port on 127.0.0.1. Default 0: the system chooses a free one. */
  readonly port?: number;
  /** Time between the acceptance of a message and its receipt. Default 500. */
  readonly receiptDelayMs?: number;
  /** The only user and password that are let in. Default: any; the password of a request then signs its receipts. */
  readonly user?: string;
  readonly password?: string;
  /** Undefined leaves the outcome to the magic numbers. */
  readonly behaviour?: (to: string) => Outcome | undefined;
  readonly onMessage?: ((message: HttpMessage) => void) | undefined;
}

export interface HttpMessage {
  readonly sid: string;
  readonly to: string;
  readonly from: string;
  readonly body: string;
}

/** A carrier reached over HTTP, in the shape of Twilio's Messages resource. */
export interface HttpCarrier {
  readonly port: number;
  readonly url: string;
  requests(): number;
  messages(): readonly HttpMessage[];
  /** Breaks all connections and refuses new ones. */
  close(): Promise<void>;
}

/** HTTP status and error code for a command_status of the magic numbers (Twilio, "Error and warning dictionary"). */
const REFUSALS: ReadonlyMap<number, readonly [http: number, code: number, message: string]> = new Map([
  [STATUS.throttled, [429, 20429, 'Too many requests']],
  [STATUS.messageQueueFull, [503, 20503, 'Service unavailable']],
  [STATUS.systemError, [400, 21606, 'The From phone number is not a valid, SMS-capable number of this account']],
  [STATUS.invalidDestination, [400, 21211, "The 'To' number is not a valid phone number."]],
]);
const OTHERWISE = [400, 21000, 'Refused'] as const;

/** Twilio's message states for the words of Appendix B ("Outbound message status in status callbacks"). */
const STATES: Readonly<Record<string, string>> = {
  DELIVRD: 'delivered',
  ENROUTE: 'sent',
  ACCEPTD: 'sent',
  UNDELIV: 'undelivered',
  EXPIRED: 'undelivered',
  REJECTD: 'undelivered',
};
/** More messages than these are forgotten. */
const KEPT_MAX = 10_000;
const CALLBACK_TRIES = 5;

/** Starts a carrier on 127.0.0.1. Rejects with the error of `listen`. */
export async function startHttpCarrier(options: HttpCarrierOptions = {}): Promise<HttpCarrier> {
  const { receiptDelayMs = 500, behaviour, onMessage } = options;
  const magic = magicNumbers();
  const delays = new Delays();
  const kept: HttpMessage[] = [];
  let requests = 0;
  let last = 0;

  const decide = (to: string, body: string): Outcome =>
    behaviour?.(to) ?? magic({ to: to.replace(/^\+/, ''), body: Buffer.from(body) }) ?? {};

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, account = ''] = /^\/2010-04-01\/Accounts\/([^/]+)\/Messages\.json$/.exec(request.url ?? '') ?? [];
    if (request.method !== 'POST' || account === '') return sendError(response, 404, 20404, 'Not found');
    const form = new URLSearchParams((await readBody(request))?.toString('utf8') ?? '');
    requests += 1;
    const [user = '', password = ''] = credentials(request);
    const isIn = user === (options.user ?? user) && password === (options.password ?? password) && user === account;
    if (!isIn) return sendError(response, 401, 20003, 'Authenticate');
    const field = (name: string): string => form.get(name) ?? '';
    const [to, from, body, callback] = [field('To'), field('From'), field('Body'), field('StatusCallback')];
    if (to === '' || body === '') return sendError(response, 400, 21604, "A 'To' phone number is required.");
    const outcome = decide(to, body);
    if ((outcome.status ?? STATUS.ok) !== STATUS.ok) {
      return sendError(response, ...(REFUSALS.get(outcome.status ?? 0) ?? OTHERWISE));
    }
    last += 1;
    const message = { sid: `SM${last.toString(16).padStart(32, '0')}`, to, from, body };
    kept.push(message);
    if (kept.length > KEPT_MAX) kept.shift();
    onMessage?.(message);
    for (const plan of outcome.receipts ?? [{ stat: 'DELIVRD' }]) {
      delays.after(receiptDelayMs * (plan.delays ?? 1), () => void post(callback, receipt(message, plan), password));
    }
    if (outcome.answer === 'never') return;
    if (outcome.answer === 'cut') {
      request.socket.destroy();
      return;
    }
    const answer = { ...message, account_sid: account, status: 'queued', num_segments: '1', error_code: null };
    delays.after(outcome.answer === 'after-receipt' ? 50 : 0, () => sendJson(response, 201, answer));
  }

  /** Repeats the post after any answer but a success. */
  async function post(callback: string, form: URLSearchParams, password: string, tries = 1): Promise<void> {
    if (callback === '') return;
    const fields = [...form].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const signed = callback + fields.map(([name, value]) => name + value).join('');
    const signature = createHmac('sha1', password).update(signed).digest('base64');
    const headers = { 'x-twilio-signature': signature };
    const answered = await fetch(callback, { method: 'POST', body: form, headers }).catch(() => undefined);
    if (answered?.ok === true || tries >= CALLBACK_TRIES) return;
    delays.after(receiptDelayMs * 2 ** tries, () => void post(callback, form, password, tries + 1));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => sendError(response, 500, 20500, 'Internal server error'));
  });
  const port = await listenLocally(server, options.port ?? 0);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    messages: () => kept,
    close: async () => {
      delays.clear();
      await closeAtOnce(server);
    },
  };
}

function receipt({ sid, to, from }: HttpMessage, { stat, err }: ReceiptPlan): URLSearchParams {
  return new URLSearchParams({
    ...{ MessageSid: sid, MessageStatus: STATES[stat] ?? 'failed', To: to, From: from },
    ...(err !== undefined && { ErrorCode: err }),
  });
}

function credentials(request: IncomingMessage): readonly string[] {
  const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  const text = Buffer.from(basic, 'base64').toString('utf8');
  const at = text.indexOf(':');
  return at === -1 ? [] : [text.slice(0, at), text.slice(at + 1)];
}

function sendError(response: ServerResponse, status: number, code: number, message: string): void {
  sendJson(response, status, { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status });
}
