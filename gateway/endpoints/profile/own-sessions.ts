import type { SessionDocument } from '../../../shared/people/users/session.ts';
import { endSession, endSessions, listSessions } from '../../../shared/people/users/session-store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isSessionId } from '../../../shared/platform/runtime/ids.ts';
import { isOver } from '../../access/session-limits.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { pageOf } from '../../http/page.ts';
import { ownOf, type ProfileDeps, type ProfileParts } from './own.ts';

/** GET /v2/profile/sessions (extension): where the user has signed in. All of them fit on one page. */
export function createOwnSessions({ db, clock }: ProfileDeps, { sessions }: ProfileParts): Handler {
  return async (req, res: Reply) => {
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const all = await listSessions(db, own.user._id);
    const alive = all.filter((session) => !isOver(session, own.user, clock.now()));
    const data = alive.map((session) => sessionRecord(session, session._id === own.session._id));
    sendJson(res, pageOf('sessions', data, undefined));
  };
}

/** DELETE /v2/profile/sessions (extension): ends all but this one. */
export function createEndOthers({ db }: ProfileDeps, { sessions }: ProfileParts): Handler {
  return async (req, res: Reply) => {
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const ended = await endSessions(db, own.user._id, own.session._id);
    sendJson(res, { status: 'success', ended, message: 'All other sessions have ended.' });
  };
}

/** DELETE /v2/profile/sessions/{session_id} (extension): ends one. */
export function createEndOne({ db }: ProfileDeps, { sessions }: ProfileParts): Handler {
  return async (req, res: Reply) => {
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const { session_id: id } = req.params;
    const ended = typeof id === 'string' && isSessionId(id) && (await endSession(db, own.user._id, id));
    if (ended) sendJson(res, { status: 'success', ended: 1, message: 'The session has ended.' });
    else sendProblem(res, 'session_not_found');
  };
}

function sessionRecord(session: SessionDocument, current: boolean): object {
  return {
    session_id: session._id,
    current,
    made_at: isoTimestamp(session.madeAt),
    seen_at: isoTimestamp(session.seenAt),
    address: session.address,
    agent: session.agent ?? null,
    second_factor: session.factor ?? null,
    expires_at: isoTimestamp(session.expiresAt),
  };
}
