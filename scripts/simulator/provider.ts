import { createServer } from 'node:http';
import { closeAtOnce, listenLocally } from './listen.ts';
import { Delays } from './pace/delays.ts';
import { type App, Callbacks, type CallbackValue } from './provider/callbacks.ts';
import { Customers } from './provider/customers.ts';
import { TEMPLATES } from './provider/demo-templates.ts';
import { sendJson } from './provider/http.ts';
import type { GraphError } from './provider/magic-customers.ts';
import { PROVIDER_DEFAULTS, type ProviderOptions, type SeenSend, type TakenSend } from './provider/options.ts';
import { Routes } from './provider/routes.ts';
import { Sends } from './provider/sends.ts';

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

/** Starts a provider on 127.0.0.1. Rejects as `listen` does. */
export async function startProvider(given: Partial<ProviderOptions> = {}): Promise<Provider> {
  const options: ProviderOptions = { ...PROVIDER_DEFAULTS, templates: TEMPLATES, ...given };
  const { onEvent } = options;
  const delays = new Delays();
  const callbacks = new Callbacks({
    ...options,
    onFailed: (status, tries) => onEvent?.({ kind: 'callback-failed', status, tries }),
  });
  const customers = new Customers(callbacks, onEvent);
  const sends = new Sends({ options, callbacks, customers, delays });
  const routes = new Routes({ options, callbacks, customers, sends, delays });
  const server = createServer((request, response) => {
    routes
      .handle(request, response)
      .catch((error: unknown) =>
        sendJson(response, 502, { error: error instanceof Error ? error.message : String(error) }),
      );
  });
  const port = await listenLocally(server, options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    options,
    seen: () => sends.seen,
    taken: () => sends.taken,
    enterApp: (app) => callbacks.enter(app),
    says: (from, text) => customers.says(from, text).id,
    sends: (from, message) => customers.sends(from, message).id,
    post: (value) => void callbacks.add(value),
    pendingCallbacks: () => callbacks.pending,
    refuseAll: (error) => {
      sends.refuseAll = error;
    },
    close: async () => {
      delays.clear();
      callbacks.close();
      await closeAtOnce(server);
    },
  };
}
