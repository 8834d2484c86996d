import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delays } from '../pace/pace.ts';
import type { App } from './callbacks.ts';
import type { Customers, Said } from './customers.ts';
import { FILE_FATES, type Media, UPLOAD_MAX, type Uploads } from './files.ts';
import { jsonObject, readBody, sendError, sendJson, sendNoObject } from './http.ts';
import { ERRORS } from './magic-customers.ts';
import type { ProviderOptions } from './options.ts';
import { USER_ID } from './persons.ts';
import { pressed, type Sends } from './sends.ts';
import type { TemplateReviews } from './template-reviews.ts';
import { templatePage } from './templates.ts';

/** The longest wait for the app to acknowledge a customer's message before the answer to the person. */
const TAKEN_WITHIN_MS = 5_000;
const PHONE = /^[1-9]\d{6,14}$/;

interface RoutesDeps {
  readonly options: ProviderOptions;
  /** For all numbers. */
  readonly enterApp: (app: App) => Promise<void>;
  readonly customers: Customers;
  readonly sends: Sends;
  readonly delays: Delays;
  readonly reviews: TemplateReviews;
  readonly uploads: Uploads;
  readonly media: Media;
}

/** A request and its path. In the Cloud API `/{version}/{id}/{edge}`: `first` is the version, `second` the id. */
interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** The method and the path's last segment, such as `POST messages`. */
  readonly route: string;
  readonly first: string;
  readonly second: string;
  readonly body: Buffer;
}

export class Routes {
  readonly #deps: RoutesDeps;

  constructor(deps: RoutesDeps) {
    this.#deps = deps;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://provider');
    const [first = '', second = '', third = '', more] = url.pathname.slice(1).split('/');
    const route = more === undefined ? `${request.method} ${third === '' ? first : third}` : '';
    const isUpload = /^v\d/.test(first) && second.startsWith('upload:');
    const isFile = route === 'POST files' && first === 'customers';
    const body = await readBody(request, isUpload || isFile ? UPLOAD_MAX : undefined);
    if (body === undefined) return sendJson(response, 413, { error: 'too large' });
    const { uploads } = this.#deps;
    const answer =
      isUpload && route === `POST ${first}`
        ? uploads.take(second + url.search, body, request.headers)
        : route === 'POST uploads' && uploads.start(second, url.searchParams, request.headers);
    if (answer) return 'http' in answer ? sendError(response, answer) : sendJson(response, answer.status, answer.body);
    const call = { request, response, url, route, first, second, body };
    if (await this.#forPeople(call)) return;
    if (this.#cloudApi(call)) return;
    if (/^v\d/.test(first)) return sendNoObject(response, request.method ?? '', second);
    sendError(response, { ...ERRORS.parameter, http: 404, details: `nothing at ${url.pathname}` });
  }

  /** The paths for people: the app's address, customers' messages, the list of sends. False for other paths. */
  async #forPeople(call: Call): Promise<boolean> {
    const { response, route, first, second, body } = call;
    const { customers, sends } = this.#deps;
    const isCustomer = first === 'customers' && (PHONE.test(second) || USER_ID.test(second));
    if (route === 'PUT app' && second === '') await this.#enterApp(response, body.toString('utf8'));
    else if (isCustomer && route === 'POST says')
      await this.#answerSaid(response, customers.says(second, body.toString('utf8')));
    else if (isCustomer && route === 'POST sends') {
      const message = jsonObject(body.toString('utf8'));
      if (message === undefined) sendJson(response, 400, { error: 'wanted: a message as JSON' });
      else await this.#answerSaid(response, customers.sends(second, message));
    } else if (isCustomer && route === 'POST presses') await this.#press(response, second, body.toString('utf8'));
    else if (isCustomer && route === 'PUT profile') {
      const told = jsonObject(body.toString('utf8'));
      if (told === undefined) sendJson(response, 400, { error: 'wanted: who it is, as JSON' });
      else sendJson(response, 200, customers.is(second, told));
    } else if (isCustomer && route === 'POST moves') {
      const number = body.toString('utf8').trim();
      if (PHONE.test(number)) await this.#answerSaid(response, customers.moves(second, number));
      else sendJson(response, 400, { error: 'wanted: the new number' });
    } else if (isCustomer && route === 'POST calls') await this.#answerSaid(response, customers.calls(second));
    else if (isCustomer && route === 'POST preferences') {
      const value = body.toString('utf8').trim();
      if (value === 'stop' || value === 'resume') await this.#answerSaid(response, customers.prefers(second, value));
      else sendJson(response, 400, { error: 'wanted: stop or resume' });
    } else if (isCustomer && route === 'POST files') await this.#takeFile(call);
    else if (route === 'PUT payment' && second === '') {
      const isBroken = body.toString('utf8').trim() === 'broken';
      sends.refuseAll = isBroken ? ERRORS.payment : undefined;
      sendJson(response, 200, { payment: isBroken ? 'broken' : 'works' });
    } else if (route === 'GET sends' && second === '') sendJson(response, 200, sends.seen);
    else return false;
    return true;
  }

  async #press(response: ServerResponse, customer: string, label: string): Promise<void> {
    const { options, customers, sends } = this.#deps;
    const found = pressed(sends.taken, options.templates, options.displayNumber, customers.persons.of(customer), label);
    if ('message' in found) return this.#answerSaid(response, customers.sends(customer, found.message));
    sendJson(response, 404, { error: `there is no button "${label}" to press`, buttons: found.labels });
  }

  /** `POST /customers/{customer}/files?type&name&caption&fate` with the bytes and their type. */
  async #takeFile({ request, response, url, second, body }: Call): Promise<void> {
    const { customers, media } = this.#deps;
    const mime = request.headers['content-type'] ?? 'application/octet-stream';
    const [given = '', name = '', caption = '', wanted] = ['type', 'name', 'caption', 'fate'].map((one) =>
      url.searchParams.get(one),
    );
    const fate = FILE_FATES.find((one) => one === wanted);
    if (wanted && fate === undefined) return sendJson(response, 400, { error: `fates: ${FILE_FATES.join(', ')}` });
    const [, major = ''] = /^(image|video|audio)\//.exec(mime) ?? [];
    const type = given || major || 'document';
    const more = { ...(name && { name }), ...(caption && { caption }), ...(fate && { fate }) };
    await this.#answerSaid(response, customers.sends(second, media.keep({ content: body, mime, type, ...more })));
  }

  async #enterApp(response: ServerResponse, text: string): Promise<void> {
    const { url: address, app_secret: appSecret, verify_token: verifyToken } = jsonObject(text) ?? {};
    if (typeof address !== 'string' || typeof appSecret !== 'string' || typeof verifyToken !== 'string') {
      return sendJson(response, 400, { error: 'wanted: {"url", "app_secret", "verify_token"}' });
    }
    await this.#deps.enterApp({ url: address, appSecret, verifyToken });
    sendJson(response, 200, { entered: address });
  }

  /** Answers when the app has the message, so that the session is open, or after `TAKEN_WITHIN_MS`. */
  async #answerSaid(response: ServerResponse, { id, taken }: Said): Promise<void> {
    const tooLong = new Promise<void>((resolve) => this.#deps.delays.after(TAKEN_WITHIN_MS, resolve));
    await Promise.race([taken, tooLong]);
    sendJson(response, 200, { id });
  }

  /** The paths of the Cloud API. Returns false for other paths. */
  #cloudApi(call: Call): boolean {
    const { request, response, url, route, first, second, body } = call;
    const { options, sends, reviews, media } = this.#deps;
    if (route === 'GET attachments') {
      void media.send(url, request, response);
      return true;
    }
    if (route === `GET ${first}` && /^v\d/.test(first) && media.has(second)) {
      media.look(second, url, request, response);
      return true;
    }
    const ofBusiness = second === options.businessId;
    const isSend = route === 'POST messages' && second === options.phoneNumberId;
    const isEdit = route === `POST ${first}` && /^v\d/.test(first) && reviews.has(second);
    const isNumber = route === `GET ${first}` && /^v\d/.test(first) && second === options.phoneNumberId;
    const isTemplates = /^(GET|POST|DELETE) message_templates$/.test(route) && ofBusiness;
    if (!isSend && !isEdit && !isNumber && !isTemplates) return false;
    if (request.headers.authorization !== `Bearer ${options.token}`) {
      sendError(response, ERRORS.token);
    } else if (isNumber && url.searchParams.get('fields') === 'health_status') {
      const may = sends.refuseAll === undefined ? 'AVAILABLE' : 'BLOCKED';
      const entities = [{ entity_type: 'PHONE_NUMBER', id: second, can_send_message: may }];
      sendJson(response, 200, { health_status: { can_send_message: may, entities }, id: second });
    } else if (isNumber) sendJson(response, 200, { id: second });
    else if (route === 'GET message_templates') this.#list(call);
    else if (route === 'DELETE message_templates') reviews.remove(url.searchParams, response);
    else {
      const read = jsonObject(body.toString('utf8'));
      if (read !== undefined) options.onRequest?.(url.pathname, read);
      if (read === undefined) sendError(response, { ...ERRORS.parameter, details: 'the body is not JSON' });
      else if (isSend && read.status === 'read') sends.read(read, response);
      else if (isSend) sends.handle(read, response);
      else if (isEdit) reviews.edit(second, read, response);
      else reviews.create(read, response);
    }
    return true;
  }

  #list({ request, response, url }: Call): void {
    const { options } = this.#deps;
    const name = url.searchParams.get('name');
    const listed = options.templates.filter((template) => name === null || template.name === name);
    const limit = Math.min(Number(url.searchParams.get('limit') ?? options.pageSize), options.pageSize);
    const next = (after: string): string =>
      `http://${request.headers.host}${url.pathname}?limit=${limit}&after=${after}`;
    sendJson(response, 200, templatePage(listed, url.searchParams.get('after'), limit, next));
  }
}
