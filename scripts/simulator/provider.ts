import { createServer } from 'node:http';
import { closeAtOnce, listenLocally } from './listen.ts';
import { Delays } from './pace/pace.ts';
import { type App, Callbacks, type CallbackValue } from './provider/callbacks.ts';
import { Customers } from './provider/customers.ts';
import { type CustomersFile, type FileRead, Media, Uploads } from './provider/files.ts';
import { type GraphError, sendJson } from './provider/http.ts';
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
import { TEMPLATES, type Template } from './provider/templates.ts';

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
  /** Lets a customer write a text, to `number` or else the first number. Returns the message's id. */
  says(from: string, text: string, number?: string): string;
  /**
   * Lets a customer send a message of any type. `message` has that type's own members, as in the Cloud API. Returns the message's
   * id.
   */
  sends(from: string, message: Readonly<Record<string, unknown>>, number?: string): string;
  /** Lets a customer send a file to the first number. Returns the message's id. */
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
  /** From now on refuses every send, or every one from `number`, with this error. Undefined ends that. */
  refuseAll(error: GraphError | undefined, number?: string): void;
  close(): Promise<void>;
}

/** A number with what belongs to it: its templates are those of its business account, its customers have sessions with it alone. */
type BusinessNumber = ReturnType<typeof openNumber>;

interface Shared {
  readonly delays: Delays;
  readonly uploads: Uploads;
  enterApp(app: App): Promise<void>;
}

function openNumber(options: ProviderOptions, templates: Template[], { delays, uploads, enterApp }: Shared) {
  const { onEvent, reviewMs } = options;
  const callbacks = new Callbacks({
    ...options,
    onFailed: (status, tries) => onEvent?.({ kind: 'callback-failed', status, tries }),
  });
  const customers = new Customers(callbacks, onEvent);
  const sends = new Sends({ options, callbacks, customers, delays });
  const reviews = new TemplateReviews({
    ...{ templates, reviewMs, callbacks, delays, uploads },
    ...(onEvent && { onEvent }),
  });
  const media = new Media(options);
  const routes = new Routes({ options, enterApp, customers, sends, delays, reviews, uploads, media });
  return { options, callbacks, customers, sends, reviews, media, routes };
}

/** The number that a request is about: by an id in its path, or by the parameter `number` of the paths for people. */
function numberOf(numbers: readonly BusinessNumber[], path: string): BusinessNumber | undefined {
  const { pathname, searchParams } = new URL(path, 'http://provider');
  const id = pathname.split('/')[2] ?? '';
  const shown = searchParams.get('number');
  return (
    numbers.find(({ options }) => options.phoneNumberId === id || options.displayNumber === shown) ??
    numbers.find(({ options, reviews }) => options.businessId === id || reviews.has(id)) ??
    numbers.find(({ media }) => media.has(id) || media.has(searchParams.get('mid') ?? ''))
  );
}

/** Starts a provider on 127.0.0.1. Rejects with the error of `listen`. */
export async function startProvider(given: Partial<ProviderOptions> = {}): Promise<Provider> {
  // Requests for templates change these copies of the lists.
  const templates = [...(given.templates ?? TEMPLATES)];
  const options: ProviderOptions = { ...PROVIDER_DEFAULTS, ...given, templates };
  const delays = new Delays();
  const uploads = new Uploads(options);
  const ofBusiness = new Map([[options.businessId, templates]]);
  const shared: Shared = {
    ...{ delays, uploads },
    async enterApp(app) {
      for (const { callbacks } of numbers) await callbacks.enter(app);
    },
  };
  const main = openNumber(options, templates, shared);
  const numbers = [
    main,
    ...options.more.map((more) => {
      const own = ofBusiness.get(more.businessId) ?? [...(more.templates ?? withOtherIds(TEMPLATES))];
      ofBusiness.set(more.businessId, own);
      return openNumber({ ...options, ...more, templates: own }, own, shared);
    }),
  ];
  const called = (number: string | undefined): BusinessNumber =>
    numbers.find(({ options: { displayNumber } }) => displayNumber === number) ?? main;
  const server = createServer((request, response) => {
    const { routes } = numberOf(numbers, request.url ?? '/') ?? main;
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
    seen: () => inOrder(numbers.map(({ sends }) => sends.seen)),
    taken: () => inOrder(numbers.map(({ sends }) => sends.taken)),
    reads: () => numbers.flatMap(({ sends }) => sends.reads),
    enterApp: (app) => shared.enterApp(app),
    says: (from, text, number) => called(number).customers.says(from, text).id,
    sends: (from, message, number) => called(number).customers.sends(from, message).id,
    sendsFile: (from, file) => main.customers.sends(from, main.media.keep(file)).id,
    keepsFile: (file) => main.media.keep(file),
    fileReads: () => main.media.reads,
    post: (value) => void main.callbacks.add(value),
    templateRequests: () => numbers.flatMap(({ reviews }) => reviews.asked),
    uploads: () => uploads.taken,
    pendingCallbacks: () => numbers.reduce((sum, { callbacks }) => sum + callbacks.pending, 0),
    refuseAll: (error, number) => {
      for (const one of number === undefined ? numbers : [called(number)]) one.sends.refuseAll = error;
    },
    close: async () => {
      delays.clear();
      for (const { callbacks } of numbers) callbacks.close();
      await closeAtOnce(server);
    },
  };
}

function inOrder<T extends { readonly at: number }>(logs: readonly (readonly T[])[]): readonly T[] {
  return logs.flat().sort((a, b) => a.at - b.at);
}

/** The same templates, at another business account. */
function withOtherIds(templates: readonly Template[]): readonly Template[] {
  return templates.map((template) => ({ ...template, id: `9${template.id}` }));
}
