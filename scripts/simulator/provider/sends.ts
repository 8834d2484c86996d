import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Delays, RateLimit } from '../pace/pace.ts';
import { type Callbacks, pricingCategory, statusValue } from './callbacks.ts';
import { checkSend } from './check-send.ts';
import type { Customers } from './customers.ts';
import { type GraphError, type Json, list, object, sendError, sendJson } from './http.ts';
import { ERRORS, type MagicCustomer, magicCustomers } from './magic-customers.ts';
import type { ProviderOptions, ReadMark, SeenSend, TakenSend } from './options.ts';
import { namesOf, type Person, sharedContact, USER_ID, waIdOf } from './persons.ts';
import { componentOf, type Template } from './templates.ts';

type Body = Readonly<Record<string, unknown>>;
type Checked = ReturnType<typeof checkSend>;

interface SendsDeps {
  readonly options: ProviderOptions;
  readonly callbacks: Callbacks;
  readonly customers: Customers;
  readonly delays: Delays;
}

/** Decides about each request to send, answers it, and reports statuses of accepted messages to the app. */
export class Sends {
  /** Refused ones included, oldest first. */
  readonly seen: SeenSend[] = [];
  /** Accepted messages; each reached the customer. */
  readonly taken: TakenSend[] = [];
  /** Oldest first. */
  readonly reads: ReadMark[] = [];
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
    const { options } = this.#deps;
    const send = checkSend(body, options.templates);
    const opaque = typeof body.biz_opaque_callback_data === 'string' ? body.biz_opaque_callback_data : undefined;
    const seen = { at: Date.now(), to: send.to, type: send.type, opaque };
    const plan = send.ok ? this.#magic(send.to, body) : {};
    const error = this.#errorOf(send, plan);
    if (error !== undefined) {
      this.seen.push({ ...seen, status: error.http, code: error.code });
      options.onEvent?.({ kind: 'refused', to: send.to, code: error.code });
      sendError(response, error);
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

  /** "Mark messages as read", with or without a typing indicator. */
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

  #errorOf(send: Checked, plan: MagicCustomer): GraphError | undefined {
    if (this.refuseAll !== undefined) return this.refuseAll;
    if (!this.#rate.admits()) return ERRORS.throughput;
    if (!send.ok) return send.error;
    const { options, customers } = this.#deps;
    const closed = send.freeForm && options.sessions && !customers.sessionOpen(send.to);
    return closed ? ERRORS.reEngagement : plan.refuse;
  }

  /** In order: a status is posted when the app has taken the one before. */
  #tellStatuses(message: TakenSend, { statuses = [] }: MagicCustomer): void {
    const { options, callbacks, customers, delays } = this.#deps;
    const category = pricingCategory(message, options.templates);
    let taken = Promise.resolve();
    for (const [i, status] of statuses.entries()) {
      delays.after(options.statusDelayMs * (i + 1), () => {
        taken = taken.then(() =>
          callbacks.add(statusValue(message, customers.persons.of(message.to), status, category)),
        );
      });
    }
  }

  #answer({ id, to, body }: TakenSend, { answer, statuses = [] }: MagicCustomer, response: ServerResponse): void {
    const { options, delays } = this.#deps;
    if (answer === 'never') return;
    if (answer === 'cut') {
      response.destroy();
      return;
    }
    const afterStatusesMs = options.statusDelayMs * (statuses.length + 1);
    delays.after(answer === 'late' ? afterStatusesMs : 0, () =>
      sendJson(response, 200, {
        messaging_product: 'whatsapp',
        contacts: [USER_ID.test(to) ? { input: to, user_id: to } : { input: body.to, wa_id: waIdOf(to) }],
        messages: [{ id, message_status: 'accepted' }],
      }),
    );
  }
}

/** The fixed label of the button that asks for the number. */
const GIVE_NUMBER = 'Share contact info';

interface Pressable {
  readonly label: string;
  /** What the customer's phone sends; `from` and `id` are added later. */
  readonly message: Json;
}

/**
 * The message that a customer sends by pressing a button or row of the last message that has any. A template's quick
 * reply gives type `button`, a reply button or a list's row type `interactive` (Cloud API, webhooks). For an unknown
 * label it returns the known ones.
 */
export function pressed(
  sends: readonly TakenSend[],
  templates: readonly Template[],
  business: string,
  customer: Person,
  label: string,
): { readonly message: Json } | { readonly labels: readonly string[] } {
  const names = namesOf(customer);
  const ofCustomer = sends
    .filter(({ to }) => names.includes(waIdOf(to)))
    .map((send) => pressables(send, templates, business, customer));
  const buttons = ofCustomer.findLast(({ length }) => length > 0) ?? [];
  const button = buttons.find((one) => one.label === label);
  return button === undefined ? { labels: buttons.map((one) => one.label) } : { message: button.message };
}

function pressables(
  { id, body }: TakenSend,
  templates: readonly Template[],
  business: string,
  customer: Person,
): readonly Pressable[] {
  const context = { from: business, id };
  if (object(body.interactive)?.type === 'request_contact_info') {
    const shared = sharedContact(customer);
    return shared === undefined ? [] : [{ label: GIVE_NUMBER, message: { context, ...shared } }];
  }
  const replies = list(object(object(body.interactive)?.action)?.buttons).map(({ reply }) => object(reply) ?? {});
  if (replies.length > 0) {
    return replies.map(({ id: replyId, title }) => {
      const interactive = { type: 'button_reply', button_reply: { id: replyId, title } };
      return { label: String(title), message: { context, type: 'interactive', interactive } };
    });
  }
  const rows = list(object(object(body.interactive)?.action)?.sections).flatMap((section) => list(section.rows));
  if (rows.length > 0) {
    return rows.map(({ id: rowId, title, description }) => {
      const reply = { id: rowId, title, ...(description !== undefined && { description }) };
      return {
        label: String(title),
        message: { context, type: 'interactive', interactive: { type: 'list_reply', list_reply: reply } },
      };
    });
  }
  const sent = object(body.template);
  const language = object(sent?.language)?.code;
  const template = templates.find((one) => one.name === sent?.name && one.language === language);
  const buttons = template === undefined ? [] : (componentOf(template, 'BUTTONS')?.buttons ?? []);
  return buttons.flatMap(({ type, text }, index) => {
    if (type !== 'QUICK_REPLY') return [];
    const given = list(sent?.components).find((one) => one.type === 'button' && Number(one.index) === index);
    const payload = list(given?.parameters)[0]?.payload ?? text;
    return [{ label: text, message: { context, type: 'button', button: { payload, text } } }];
  });
}
