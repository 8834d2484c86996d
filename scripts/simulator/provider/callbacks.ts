import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { object } from './http.ts';
import type { StatusPlan } from './magic-customers.ts';
import type { TakenSend } from './options.ts';
import { contactOf, type Person, USER_ID } from './persons.ts';
import type { Template } from './templates.ts';

/** The app that gets callbacks, as entered in the provider's settings. */
export interface App {
  readonly url: string;
  readonly appSecret: string;
  readonly verifyToken: string;
}

export interface CallbackOptions {
  readonly businessId: string;
  readonly phoneNumberId: string;
  readonly displayNumber: string;
  readonly retryMs: number;
  onFailed(status: number, tries: number): void;
  readonly onPost?: ((body: object) => void) | undefined;
}

/** The members of a callback's `value`, without its metadata. */
export interface CallbackValue {
  readonly contacts?: readonly object[];
  readonly messages?: readonly object[];
  readonly statuses?: readonly object[];
  readonly calls?: readonly object[];
  readonly user_preferences?: readonly object[];
}

/** A change of an entry; its field is `messages`, or one that reports on templates. */
interface Change {
  readonly field: string;
  readonly value: object;
}

interface Waiting {
  readonly change: Change;
  readonly taken: () => void;
}

const TIMEOUT_MS = 10_000;
const LONGEST_RETRY_MS = 60_000;
const OK = 200;

/**
 * Posts signed messages and statuses to the app and repeats each until it is answered with 200. Values of the same
 * moment share a post, each as its own entry. Without an app they wait in memory.
 */
export class Callbacks {
  readonly #options: CallbackOptions;
  #app: App | undefined;
  #waiting: Waiting[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #flushing = false;
  #open = 0;

  constructor(options: CallbackOptions) {
    this.#options = options;
  }

  /** Posts not yet acknowledged, and values that wait for an app. */
  get pending(): number {
    return this.#open + this.#waiting.length;
  }

  /** Sends the verify challenge, as the provider does when an app is entered. Rejects on a wrong answer. */
  async enter(app: App): Promise<void> {
    const url = new URL(app.url);
    const challenge = String(1_000_000 + Math.floor(Math.random() * 9_000_000));
    url.searchParams.set('hub.mode', 'subscribe');
    url.searchParams.set('hub.verify_token', app.verifyToken);
    url.searchParams.set('hub.challenge', challenge);
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await answer.text();
    if (answer.status !== OK || text !== challenge) throw new Error(`the challenge was answered with ${answer.status}`);
    this.#app = app;
    this.#flush();
  }

  /** Adds a value to the next post. Resolves when the app has answered that post with 200. */
  add(value: CallbackValue, field = 'messages'): Promise<void> {
    const { phoneNumberId, displayNumber } = this.#options;
    const metadata = { display_phone_number: displayNumber, phone_number_id: phoneNumberId };
    return this.#addChange({ field, value: { messaging_product: 'whatsapp', metadata, ...value } });
  }

  addTemplateChange(field: string, value: object): void {
    void this.#addChange({ field, value });
  }

  #addChange(change: Change): Promise<void> {
    return new Promise((taken) => {
      this.#waiting.push({ change, taken });
      this.#flush();
    });
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#app = undefined;
  }

  #flush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      const app = this.#app;
      if (app === undefined || this.#waiting.length === 0) return;
      const values = this.#waiting.splice(0);
      const time = Math.floor(Date.now() / 1_000);
      const entry = values.map(({ change }) => ({ id: this.#options.businessId, time, changes: [change] }));
      this.#open += 1;
      const body = { object: 'whatsapp_business_account', entry };
      this.#options.onPost?.(body);
      this.#post(Buffer.from(JSON.stringify(body)), 1, () => {
        for (const { taken } of values) taken();
      });
    });
  }

  #post(body: Buffer, tries: number, taken: () => void): void {
    const app = this.#app;
    if (app === undefined) return;
    const again = (status: number): void => {
      this.#options.onFailed(status, tries);
      const timer = setTimeout(
        () => {
          this.#timers.delete(timer);
          this.#post(body, tries + 1, taken);
        },
        Math.min(this.#options.retryMs * 2 ** (tries - 1), LONGEST_RETRY_MS),
      );
      this.#timers.add(timer);
    };
    const signature = createHmac('sha256', app.appSecret).update(body).digest('hex');
    const post = request(app.url, {
      method: 'POST',
      timeout: TIMEOUT_MS,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        'x-hub-signature-256': `sha256=${signature}`,
      },
    });
    post.once('timeout', () => post.destroy(new Error('no answer')));
    post.once('error', () => again(0));
    post.once('response', (response) => {
      response.resume();
      if (response.statusCode !== OK) return again(response.statusCode ?? 0);
      this.#open -= 1;
      taken();
    });
    post.end(body);
  }
}

export const SESSION_MS = 24 * 3_600_000;

/** The value that reports a message's status. `sent` and `delivered` include the price. */
export function statusValue(
  message: TakenSend,
  person: Person,
  { status, error }: StatusPlan,
  category: string,
): CallbackValue {
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category };
  const { number, hidden, userId, parentId, username } = person;
  // A failure has no contact ("Business-scoped user IDs").
  const tells = username !== undefined && (status === 'delivered' || status === 'read');
  return {
    ...(tells && { contacts: [contactOf(person)] }),
    statuses: [
      {
        id: message.id,
        status,
        timestamp: unixSeconds(),
        ...(number !== undefined && (!hidden || !USER_ID.test(message.to)) && { recipient_id: number }),
        ...(userId !== undefined && { recipient_user_id: userId }),
        ...(parentId !== undefined && { recipient_parent_user_id: parentId }),
        ...(message.opaque === undefined ? {} : { biz_opaque_callback_data: message.opaque }),
        ...(status === 'sent' || status === 'delivered' ? { pricing } : {}),
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

/** The billed category: that of the template in lower case, or `service`. */
export function pricingCategory({ body }: TakenSend, templates: readonly Template[]): string {
  const name = object(body.template)?.name;
  return templates.find((template) => template.name === name)?.category.toLowerCase() ?? 'service';
}

export function unixSeconds(): string {
  return String(Math.floor(Date.now() / 1000));
}
