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

/** A running chat-app provider in the shapes of the WhatsApp Cloud API. */
export interface Provider {
  /** Address without a version, such as `http://127.0.0.1:4020`. */
  readonly url: string;
  readonly options: ProviderOptions;
  /** All requests to send, refused ones included, oldest first. */
  seen(): readonly SeenSend[];
  taken(): readonly TakenSend[];
  /** Marks of customers' messages as read, oldest first. */
  reads(): readonly ReadMark[];
  /** Sets the address for callbacks after a verify challenge. Rejects if the challenge is answered wrongly. */
  enterApp(app: App): Promise<void>;
  /** A customer writes a text to `number` (default: the first). Returns the message's id. */
  says(from: string, text: string, number?: string): string;
  /** A customer sends a message of any type, with that type's members as in the Cloud API. Returns its id. */
  sends(from: string, message: Readonly<Record<string, unknown>>, number?: string): string;
  /** A customer sends a file to the first number. Returns the message's id. */
  sendsFile(from: string, file: CustomersFile): string;
  /** Stores a file as if a customer had sent it, without a callback. Returns the message's members. */
  keepsFile(file: CustomersFile): Readonly<Record<string, unknown>>;
  /** Reads of customers' files, oldest first. */
  fileReads(): readonly FileRead[];
  /** Posts `value` unchanged as a signed callback. */
  post(value: CallbackValue): void;
  /** All requests about templates, refused ones included: method, name and HTTP status. */
  templateRequests(): readonly AskedTemplate[];
  /** Types of the files uploaded for template headers, oldest first. */
  uploads(): readonly string[];
  /** Callbacks not yet answered with 200. */
  pendingCallbacks(): number;
  /** Refuses every send, or every one from `number`, with this error until it is called with undefined. */
  refuseAll(error: GraphError | undefined, number?: string): void;
  close(): Promise<void>;
}

/** A number with its business account's templates and its own sessions with customers. */
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

/** The number of a request: by an id in the path, or by the parameter `number` of the paths for people. */
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

/** Rejects with the error of `listen`. */
export async function startProvider(given: Partial<ProviderOptions> = {}): Promise<Provider> {
  // Copies, because requests change templates.
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
