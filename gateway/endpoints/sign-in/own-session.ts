import type { Sessions } from '../../access/sessions.ts';
import { sendJson, sendJsonText, sendProblem } from '../../http/answer.ts';
import type { CallerAddress } from '../../http/caller-address.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { sessionView } from './session-view.ts';

/** GET /v2/session (extension): who has signed in. */
export function createOwnSession(sessions: Sessions): Handler {
  return async (req, res: Reply) => {
    const found = await sessions.find(req);
    // The session may have ended since the request was let in.
    if (typeof found === 'string') return sendProblem(res, 'session_ended');
    sendJson(res, sessionView(found));
  };
}

/** DELETE /v2/session (extension): signs out. The browser then forgets the pages that it could show again by "Back". */
export function createSignOut(
  { log }: Pick<GatewayDeps, 'log'>,
  { sessions, addressOf }: { readonly sessions: Sessions; readonly addressOf: CallerAddress },
): Handler {
  return async (req, res: Reply) => {
    const found = await sessions.find(req);
    if (typeof found !== 'string') {
      await sessions.end(found.session);
      const { session, user } = found;
      log.info('signed_out', { user_id: user._id, session_id: session._id, address: addressOf(req) });
    }
    // "cookies" would sign out of every other product under the same registered domain.
    const headers = [...sessions.cookie.erase(), 'Clear-Site-Data', '"cache"'];
    sendJsonText(res, 200, JSON.stringify({ status: 'success', message: 'You are signed out.' }), headers);
  };
}
