import type { SessionCookie } from '../access/sessions.ts';
import { policyHeaders, sendBytes, sendPage, sendProblem, takesGzip } from '../http/answer.ts';
import type { Handler, Reply } from '../http/context.ts';
import type { ClientFiles } from './files.ts';
import { POLICY } from './policy.ts';

/** The name of an asset has the hash of its bytes. */
const FOREVER = ['Cache-Control', 'public, max-age=31536000, immutable', 'Vary', 'Accept-Encoding'];

/** The dashboard's client: one page for every path, and the files that it loads. Both need no key: what they show, they ask of the API. */
export function createDashboard(
  files: ClientFiles,
  cookie: SessionCookie,
): { readonly page: Handler; readonly asset: Handler } {
  const headers = policyHeaders(POLICY);
  return {
    page: (req, res: Reply) => {
      const html = files.page();
      if (html !== undefined) sendPage(res, cookie.read(req) === undefined ? saysNobody(html) : html, headers);
      else sendProblem(res, 'not_found', { detail: 'The dashboard was not built. Run `npm run build`.' });
    },
    asset: (req, res: Reply) => {
      const { name } = req.params;
      const found = typeof name === 'string' ? files.asset(name) : undefined;
      if (found === undefined) return sendProblem(res, 'not_found');
      const small = takesGzip(req);
      const coding = small ? ['Content-Encoding', 'gzip'] : [];
      sendBytes(res, found.contentType, small ? found.gzip : found.plain, [...FOREVER, ...coding]);
    },
  };
}

/** The client then does not ask who has signed in: the browser would write the 401 into its console as an error. */
function saysNobody(html: string): string {
  return html.replace('<html ', '<html data-nobody ');
}
