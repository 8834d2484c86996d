import { createServer } from 'node:http';
import { closeAtOnce, listenLocally } from './listen.ts';
import { Delays } from './pace/delays.ts';
import { type App, Callbacks, type CallbackValue } from './provider/callbacks.ts';
import { Customers } from './provider/customers.ts';
import { TEMPLATES } from './provider/demo-templates.ts';
import type { FileRead } from './provider/file-fates.ts';
import { sendJson } from './provider/http.ts';
import type { GraphError } from './provider/magic-customers.ts';
import { type CustomersFile, Media } from './provider/media.ts';
import {
  PROVIDER_DEFAULTS,
  type ProviderOptions,
  type ReadMark,
  type SeenSend,
  type TakenSend,
} from './provider/options.ts';
import { Routes } from './provider/routes.ts';
import { Sends } from './provider/sends.ts';
import { type AskedTemplate, TemplateReviews } from './provider/template-reviews.ts';
import { Uploads } from './provider/uploads.ts';

/** A running chat-app provider. Requests and answers have the shapes of the WhatsApp Cloud API. */
export interface Provider {
  /** Address without a version, such as `http://127.0.0.1:4020`. */
  readonly url: string;
  readonly options: ProviderOptions;
  /** Every request for a send, refused ones too, oldest first. */
  seen(): readonly SeenSend[];
  /** The sends that were accepted. Each of them reached the customer. */
  taken(): readonly TakenSend[];
  /** The messages of customers that were marked as read, oldest first. */
  reads(): readonly ReadMark[];
  /** Sets the address for callbacks, after a verify challenge. Rejects when the challenge is answered wrongly. */
  enterApp(app: App): Promise<void>;
  /** Lets a customer write a text. Returns the message's id. */
  says(from: string, text: string): string;
  /**
   * Lets a customer send a message of any type. `message` has that type's own members, as in the Cloud API. Returns the message's
   * id.
   */
  sends(from: string, message: Readonly<Record<string, unknown>>): string;
  /** Lets a customer send a file. Returns the message's id. */
  sendsFile(from: string, file: CustomersFile): string;
  /** Keeps a file as if a customer had sent it, and tells nobody. Returns the message's own members. */
  keepsFile(file: CustomersFile): Readonly<Record<string, unknown>>;
  /** How the files of customers were read, oldest first. */
  fileReads(): readonly FileRead[];
  /** Posts `value` as a signed callback, without changing it. */
  post(value: CallbackValue): void;
  /** Every request for a template, for its change or its deletion, refused ones too: method, name and HTTP status. */
  templateRequests(): readonly AskedTemplate[];
  /** The files that were uploaded for headers of templates: their types, oldest first. */
  uploads(): readonly string[];
  /** How many callbacks have not been answered with 200 yet. */
  pendingCallbacks(): number;
  /** From now on refuses every send with this error. Undefined ends that. */
  refuseAll(error: GraphError | undefined): void;
  close(): Promise<void>;
}

/** Starts a provider on 127.0.0.1. Rejects with the error of `listen`. */
export async function startProvider(given: Partial<ProviderOptions> = {}): Promise<Provider> {
  const templates = [...(given.templates ?? TEMPLATES)];
  // Requests for templates change this copy of the list.
  const options: ProviderOptions = { ...PROVIDER_DEFAULTS, ...given, templates };
  const { onEvent } = options;
  const delays = new Delays();
  const callbacks = new Callbacks({
    ...options,
    onFailed: (status, tries) => onEvent?.({ kind: 'callback-failed', status, tries }),
  });
  const customers = new Customers(callbacks, onEvent);
  const sends = new Sends({ options, callbacks, customers, delays });
  const { reviewMs, onEvent: tell } = options;
  const uploads = new Uploads(options);
  const reviews = new TemplateReviews({
    ...{ templates, reviewMs, callbacks, delays, uploads },
    ...(tell && { onEvent: tell }),
  });
  const media = new Media(options);
  const routes = new Routes({ options, callbacks, customers, sends, delays, reviews, uploads, media });
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
    reads: () => sends.reads,
    enterApp: (app) => callbacks.enter(app),
    says: (from, text) => customers.says(from, text).id,
    sends: (from, message) => customers.sends(from, message).id,
    sendsFile: (from, file) => customers.sends(from, media.keep(file)).id,
    keepsFile: (file) => media.keep(file),
    fileReads: () => media.reads,
    post: (value) => void callbacks.add(value),
    templateRequests: () => reviews.asked,
    uploads: () => uploads.taken,
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
