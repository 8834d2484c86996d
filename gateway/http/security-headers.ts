import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** Directives of a content security policy, as helmet takes them. */
export type Policy = Readonly<Record<string, readonly string[]>>;

/** Browsers render no answer of the API, so its policy is the strictest. */
const NOTHING: Policy = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };

/**
 * Helmet's headers as a flat list of names and values, for `writeHead`. They are the same for every answer, so helmet
 * runs only once; as a middleware it would set a dozen headers for each request.
 */
export function securityHeaders(policy = NOTHING): readonly string[] {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  const directives = Object.fromEntries(Object.entries(policy).map(([name, values]) => [name, [...values]]));
  const protect = helmet({ contentSecurityPolicy: { useDefaults: false, directives } });
  protect(req, res, (error) => {
    if (error !== undefined) throw error;
  });
  return Object.entries(res.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
}
