import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * Helmet's headers as a flat list of names and values, for `writeHead`. They are the same for every answer, so helmet
 * runs only once; as a middleware it would set a dozen headers for each request. Browsers render no answer of the
 * API, so the content policy is the strictest. A page of ours allows its one inline style, by its text.
 */
export function securityHeaders(style?: string): readonly string[] {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        frameAncestors: ["'none'"],
        ...(style === undefined
          ? {}
          : { styleSrc: [`'sha256-${createHash('sha256').update(style).digest('base64')}'`] }),
      },
    },
  });
  protect(req, res, (error) => {
    if (error !== undefined) throw error;
  });
  return Object.entries(res.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
}
