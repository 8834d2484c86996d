import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Delays } from '../pace/delays.ts';
import { RateLimit } from '../pace/rate-limit.ts';
import { type Callbacks, pricingCategory, statusValue } from './callbacks.ts';
import { checkSend } from './check-send.ts';
import type { Customers } from './customers.ts';
import { type GraphError, sendError, sendJson } from './http.ts';
import { ERRORS, type MagicCustomer, magicCustomers } from './magic-customers.ts';
import type { ProviderOptions, ReadMark, SeenSend, TakenSend } from './options.ts';
import { USER_ID, waIdOf } from './persons.ts';

type Body = Readonly<Record<string, unknown>>;
type Checked = ReturnType<typeof checkSend>;

interface SendsDeps {
  readonly options: ProviderOptions;
  readonly callbacks: Callbacks;
  readonly customers: Customers;
  readonly delays: Delays;
}

/** Decides about each request for a send, answers it, and tells the app what happens to accepted messages. */
export class Sends {
  /** Every request, refused ones too, oldest first. */
  readonly seen: SeenSend[] = [];
  /** The accepted messages. Each of them reached the customer. */
  readonly taken: TakenSend[] = [];
  /** The messages of customers that were marked as read, oldest first. */
  readonly reads: ReadMark[] = [];
  /** If set, every send is refused with this error. */
  refuseAll: GraphError | undefined;
  readonly #deps: SendsDeps;
  readonly #magic: ReturnType<typeof magicCustomers>;
  readonly #rate: RateLimit;

  constructor(deps: SendsDeps) {
    this.#deps = deps;
    this.#magic = magicCustomers(deps.options.behaviour);
    this.#rate = new RateLimit(deps.options.ratePerSecond);
  }

  handle(body: Body, response: ServerResponse): void {
    const { options, delays } = this.#deps;
    const send = checkSend(body, options.templates);
    const opaque = typeof body.biz_opaque_callback_data === 'string' ? body.biz_opaque_callback_data : undefined;
    const seen = { at: Date.now(), to: send.to, type: send.type, opaque };
    const plan = send.ok ? this.#magic(send.to, body) : {};
    const error = this.#errorOf(send, plan);
    if (error !== undefined) {
      this.seen.push({ ...seen, status: error.http, code: error.code });
      options.onEvent?.({ kind: 'refused', to: send.to, code: error.code });
      delays.after(options.answerDelayMs, () => sendError(response, error));
      return;
    }
    const message: TakenSend = {
      id: `wamid.${randomBytes(16).toString('base64url')}`,
      from: options.displayNumber,
      ...seen,
      body,
    };
    this.taken.push(message);
    options.onEvent?.({ kind: 'taken', send: message });
    const silent = plan.answer === 'cut' || plan.answer === 'never';
    this.seen.push({ ...seen, status: silent ? 0 : 200, code: undefined });
    this.#tellStatuses(message, plan);
    this.#answer(message, plan, response);
  }

  /** "Mark messages as read", with a typing indicator or without. */
  read({ message_id: id, typing_indicator: typing }: Body, response: ServerResponse): void {
    const { customers, options } = this.#deps;
    if (typeof id !== 'string' || !customers.wrote(id)) {
      sendError(response, { ...ERRORS.value, details: 'message_id is of no message of a customer' });
      return;
    }
    this.reads.push({ id, typing: typing !== undefined });
    options.onEvent?.({ kind: 'read', id, typing: typing !== undefined });
    sendJson(response, 200, { success: true });
  }

  /** The first error of a send. Undefined when it is accepted. */
  #errorOf(send: Checked, plan: MagicCustomer): GraphError | undefined {
    if (this.refuseAll !== undefined) return this.refuseAll;
    if (!this.#rate.admits()) return ERRORS.throughput;
    if (!send.ok) return send.error;
    const { options, customers } = this.#deps;
    const closed = send.freeForm && options.sessions && !customers.sessionOpen(send.to);
    return closed ? ERRORS.reEngagement : plan.refuse;
  }

  /** In this order: a status is posted when the app has taken the one before. */
  #tellStatuses(message: TakenSend, { statuses = [] }: MagicCustomer): void {
    const { options, callbacks, customers, delays } = this.#deps;
    const category = pricingCategory(message, options.templates);
    let taken = Promise.resolve();
    for (const [i, status] of statuses.entries()) {
      const afterMs = options.answerDelayMs + options.statusDelayMs * (i + 1);
      delays.after(afterMs, () => {
        taken = taken.then(() =>
          callbacks.add(statusValue(message, customers.persons.of(message.to), status, category)),
        );
      });
    }
  }

  #answer({ id, to, body }: TakenSend, { answer, statuses = [] }: MagicCustomer, response: ServerResponse): void {
    const { options, delays } = this.#deps;
    const { answerDelayMs, statusDelayMs } = options;
    if (answer === 'never') return;
    if (answer === 'cut') {
      delays.after(answerDelayMs, () => response.destroy());
      return;
    }
    const afterStatusesMs = answerDelayMs + statusDelayMs * (statuses.length + 1);
    delays.after(answer === 'late' ? afterStatusesMs : answerDelayMs, () =>
      sendJson(response, 200, {
        messaging_product: 'whatsapp',
        contacts: [USER_ID.test(to) ? { input: to, user_id: to } : { input: body.to, wa_id: waIdOf(to) }],
        messages: [{ id, message_status: 'accepted' }],
      }),
    );
  }
}
