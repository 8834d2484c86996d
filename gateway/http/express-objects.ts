import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';

/** What an Express app gives its requests and answers as prototypes. */
interface Prototypes {
  request: object;
  response: object;
}

/**
 * For `createServer`: classes whose objects are Express's from the start. Express changes the prototype of each request and
 * answer, and an object after that has a hidden class which V8 has never seen: every property of it is looked up the slow
 * way for the rest of its life (half of the CPU of a small request). One that has the app's prototype already it leaves alone, so the
 * app takes its prototypes from these classes, with its own behind them.
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
