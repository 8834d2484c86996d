import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type App, Callbacks, type CallbackValue } from './provider/callbacks.ts';
import { checkSend } from './provider/check-send.ts';
import { jsonObject, readBody, sendError, sendJson } from './provider/http.ts';
import {
  ERRORS,
  type GraphError,
  type MagicCustomer,
  magicCustomers,
  type StatusPlan,
} from './provider/magic-customers.ts';
import { PROVIDER_DEFAULTS, type ProviderOptions, type SeenSend, type TakenSend } from './provider/options.ts';
import { TEMPLATES, templatePage } from './provider/templates.ts';
import { RateLimit } from './smsc/rate-limit.ts';

/** A running chat-app provider in the shapes of the WhatsApp Cloud API. */
export interface Provider {
  /** Without a version: `http://127.0.0.1:4020`. */
  readonly url: string;
  readonly options: ProviderOptions;
  /** Every request for a send, oldest first. */
  seen(): readonly SeenSend[];
  /** What was taken: each of these reached the customer. */
  taken(): readonly TakenSend[];
  /** Enters the address that callbacks go to, challenge first. Rejects when that is answered wrongly. */
  enterApp(app: App): Promise<void>;
  /** A customer writes. Returns the message's id. */
  says(from: string, text: string): string;
  /** A customer sends a message of any type: its own members, as the Cloud API has them. Returns its id. */
  sends(from: string, message: Readonly<Record<string, unknown>>): string;
  /** Posts this as it is, signed. */
  post(value: CallbackValue): void;
  /** Callbacks that were not answered with 200 yet. */
  pendingCallbacks(): number;
  /** Answers every send with this from now on; undefined: as before. */
  refuseAll(error: GraphError | undefined): void;
  close(): Promise<void>;
}

/** What a customer wrote. */
interface Said {
  readonly id: string;
  /** Resolves when the app has answered its callback with 200. */
  readonly taken: Promise<void>;
}

/** How long whoever lets a customer write is kept waiting until the app has it. */
const TAKEN_WITHIN_MS = 5_000;
const SESSION_MS = 24 * 3_600_000;
const PHONE = /^[1-9]\d{6,14}$/;

/** Starts a provider on 127.0.0.1. Rejects as `listen` does. */
export async function startProvider(given: Partial<ProviderOptions> = {}): Promise<Provider> {
  const options: ProviderOptions = { ...PROVIDER_DEFAULTS, templates: TEMPLATES, ...given };
  const { onEvent } = options;
  const magic = magicCustomers(options.behaviour);
  const rate = new RateLimit(options.ratePerSecond);
  const callbacks = new Callbacks({
    ...options,
    onFailed: (status, tries) => onEvent?.({ kind: 'callback-failed', status, tries }),
  });
  const seen: SeenSend[] = [];
  const taken: TakenSend[] = [];
  const lastInbound = new Map<string, number>();
  const timers = new Set<NodeJS.Timeout>();
  const { answerDelayMs, templates } = options;
  let refuseAll: GraphError | undefined;

  const later = (ms: number, what: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      what();
    }, ms);
    timers.add(timer);
  };

  const onSend = (body: Readonly<Record<string, unknown>>, response: ServerResponse): void => {
    const send = checkSend(body, templates);
    const opaque = typeof body.biz_opaque_callback_data === 'string' ? body.biz_opaque_callback_data : undefined;
    const see = (status: number, code?: number): void => {
      seen.push({ at: Date.now(), to: send.to, type: send.type, opaque, status, code });
    };
    const plan: MagicCustomer = send.ok ? magic(send.to, body) : {};
    const closed = send.ok && send.freeForm && options.sessions && !sessionOpen(send.to);
    const error =
      refuseAll ??
      (rate.admits() ? undefined : ERRORS.throughput) ??
      (send.ok ? undefined : send.error) ??
      (closed ? ERRORS.reEngagement : plan.refuse);
    if (error !== undefined) {
      see(error.http, error.code);
      onEvent?.({ kind: 'refused', to: send.to, code: error.code });
      later(answerDelayMs, () => sendError(response, error));
      return;
    }
    const id = `wamid.${randomBytes(16).toString('base64url')}`;
    const message: TakenSend = { id, at: Date.now(), to: send.to, type: send.type, body, opaque };
    taken.push(message);
    onEvent?.({ kind: 'taken', send: message });
    const statuses = plan.statuses ?? [];
    const afterStatuses = answerDelayMs + options.statusDelayMs * (statuses.length + 1);
    see(plan.answer === 'cut' || plan.answer === 'never' ? 0 : 200);
    statuses.forEach((status, i) => {
      later(answerDelayMs + options.statusDelayMs * (i + 1), () => void callbacks.add(statusValue(message, status)));
    });
    if (plan.answer === 'never') return;
    if (plan.answer === 'cut') {
      later(answerDelayMs, () => response.destroy());
      return;
    }
    later(plan.answer === 'late' ? afterStatuses : answerDelayMs, () =>
      sendJson(response, 200, {
        messaging_product: 'whatsapp',
        contacts: [{ input: send.to, wa_id: send.to }],
        messages: [{ id, message_status: 'accepted' }],
      }),
    );
  };

  const sessionOpen = (customer: string): boolean => Date.now() - (lastInbound.get(customer) ?? 0) < SESSION_MS;

  const sends = (from: string, message: Readonly<Record<string, unknown>>): Said => {
    const id = `wamid.${randomBytes(16).toString('base64url')}`;
    lastInbound.set(from, Date.now());
    const taken = callbacks.add({
      contacts: [{ profile: { name: 'Simulated customer' }, wa_id: from }],
      messages: [{ from, id, timestamp: seconds(), ...message }],
    });
    return { id, taken };
  };
  const says = (from: string, text: string): Said => {
    onEvent?.({ kind: 'says', from, text });
    return sends(from, { type: 'text', text: { body: text } });
  };

  /** When the app has it, so that whoever asks next finds the session open; an app that is away is not waited for longer. */
  const answerSaid = async (response: ServerResponse, { id, taken }: Said): Promise<void> => {
    const tooLong = new Promise<void>((resolve) => later(TAKEN_WITHIN_MS, resolve));
    await Promise.race([taken, tooLong]);
    sendJson(response, 200, { id });
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://provider');
    const [first = '', second = '', third = '', more] = url.pathname.slice(1).split('/');
    const route = more === undefined ? `${request.method} ${third === '' ? first : third}` : '';
    const text = await readBody(request);
    if (text === undefined) return sendJson(response, 413, { error: 'too large' });

    // For a person: who the app is, what customers write, what came.
    if (route === 'PUT app' && second === '') {
      const { url: address, app_secret: appSecret, verify_token: verifyToken } = jsonObject(text) ?? {};
      if (typeof address !== 'string' || typeof appSecret !== 'string' || typeof verifyToken !== 'string') {
        return sendJson(response, 400, { error: 'wanted: {"url", "app_secret", "verify_token"}' });
      }
      await callbacks.enter({ url: address, appSecret, verifyToken });
      return sendJson(response, 200, { entered: address });
    }
    if (first === 'customers' && PHONE.test(second) && route === 'POST says') {
      return answerSaid(response, says(second, text));
    }
    if (first === 'customers' && PHONE.test(second) && route === 'POST sends') {
      const message = jsonObject(text);
      if (message === undefined) return sendJson(response, 400, { error: 'wanted: a message as JSON' });
      return answerSaid(response, sends(second, message));
    }
    if (route === 'GET sends' && second === '') return sendJson(response, 200, seen);

    // The Cloud API.
    const authorized = request.headers.authorization === `Bearer ${options.token}`;
    if (route === 'POST messages' && second === options.phoneNumberId) {
      const body = jsonObject(text);
      if (!authorized) return sendError(response, ERRORS.token);
      if (body === undefined) return sendError(response, { ...ERRORS.parameter, details: 'the body is not JSON' });
      return onSend(body, response);
    }
    if (route === 'GET message_templates' && second === options.businessId) {
      if (!authorized) return sendError(response, ERRORS.token);
      const limit = Math.min(Number(url.searchParams.get('limit') ?? options.pageSize), options.pageSize);
      const next = (after: string): string =>
        `http://${request.headers.host}${url.pathname}?limit=${limit}&after=${after}`;
      return sendJson(response, 200, templatePage(templates, url.searchParams.get('after'), limit, next));
    }
    sendError(response, { ...ERRORS.parameter, http: 404, details: `nothing at ${url.pathname}` });
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) =>
      sendJson(response, 502, { error: error instanceof Error ? error.message : String(error) }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // Listening on TCP: never a pipe's name.
    options,
    seen: () => seen,
    taken: () => taken,
    enterApp: (app) => callbacks.enter(app),
    says: (from, text) => says(from, text).id,
    sends: (from, message) => sends(from, message).id,
    post: (value) => void callbacks.add(value),
    pendingCallbacks: () => callbacks.pending,
    refuseAll: (error) => {
      refuseAll = error;
    },
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
      callbacks.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function statusValue(message: TakenSend, { status, error }: StatusPlan): CallbackValue {
  return {
    statuses: [
      {
        id: message.id,
        status,
        timestamp: seconds(),
        recipient_id: message.to,
        ...(message.opaque === undefined ? {} : { biz_opaque_callback_data: message.opaque }),
        ...(status === 'sent'
          ? {
              conversation: {
                id: `conversation-of-${message.to}`,
                expiration_timestamp: String(Math.floor((Date.now() + SESSION_MS) / 1000)),
                origin: { type: 'utility' },
              },
              pricing: { billable: true, pricing_model: 'PMP', category: 'utility' },
            }
          : {}),
        ...(error === undefined
          ? {}
          : {
              errors: [
                { code: error.code, title: error.title, message: error.title, error_data: { details: error.details } },
              ],
            }),
      },
    ],
  };
}

function seconds(): string {
  return String(Math.floor(Date.now() / 1000));
}
