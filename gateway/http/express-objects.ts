import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';

/** The prototypes that an Express app gives its requests and answers. */
interface Prototypes {
  request: object;
  response: object;
}

/**
 * Classes for `createServer` whose objects have Express's prototypes from the start. Express changes the prototype of
 * each request and answer. V8 has no hidden class for such an object, so every property is then looked up slowly:
 * half of a small request's CPU. Express does not change an object that already has the app's prototype. So the app
 * takes its prototypes from these classes, and they inherit the app's own behavior.
 */
export function expressObjects(app: RequestListener | (RequestListener & Prototypes)): {
  IncomingMessage?: typeof IncomingMessage;
  ServerResponse?: typeof ServerResponse;
} {
  if (!('request' in app)) return {};
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  app.request = ExpressRequest.prototype;
  app.response = ExpressResponse.prototype;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
