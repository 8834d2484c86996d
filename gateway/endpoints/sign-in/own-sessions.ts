import { endSession, endSessions, listSessions } from '../../../shared/people/users/session-store.ts';
import type { SessionDocument } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isSessionId } from '../../../shared/platform/runtime/ids.ts';
import { isOver } from '../../access/session-limits.ts';
import { done, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, pageShape, success, text, whole } from '../../api/shapes.ts';
import { isRefused } from '../../http/idempotency/action.ts';
import { pageOf } from '../../http/page.ts';
import { ownOf } from './own.ts';

/** Where the user has signed in. */

const Time = text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' });

const OwnSession = named('OwnSession', 'A browser in which the user is signed in.', {
  session_id: text(undefined, { example: 'ses_01m7znjn7hdb5pft3awkb6pgvz' }),
  current: flag('Whether it is the session of this request.', true),
  made_at: Time,
  seen_at: Time.describe('The last request, to the minute.'),
  address: text('Where it began.', { example: '203.0.113.7' }),
  agent: text('The browser, as it named itself.', { example: 'Mozilla/5.0' }).nullable(),
  second_factor: text('`totp` or `recovery_code`; null when the password alone was enough.', {
    example: 'totp',
  }).nullable(),
  expires_at: Time,
});

const SessionsEnded = success('SessionsEnded', {
  ended: whole('How many.', { example: 2 }),
  message: text(undefined, { example: 'All other sessions have ended.' }),
});

export const ownSessions = endpoint({
  id: 'ownSessions',
  method: 'get',
  path: '/v2/profile/sessions',
  tag: 'Sign-in',
  summary: 'Where you are signed in',
  description: 'Extension. Newest first, all on one page.',
  signedIn: 'whole',
  answer: pageShape('OwnSessionPage', OwnSession),
  async handle(gateway, call) {
    const own = await ownOf(gateway, call);
    if (isRefused(own)) return own;
    const all = await listSessions(gateway.db, own.user._id);
    const alive = all.filter((session) => !isOver(session, own.user, gateway.clock.now()));
    const data = alive.map((session) => sessionRecord(session, session._id === own.session._id));
    return pageOf('sessions', data, undefined);
  },
});

export const endOtherSessions = endpoint({
  id: 'endOtherSessions',
  method: 'delete',
  path: '/v2/profile/sessions',
  tag: 'Sign-in',
  summary: 'End all other sessions',
  description: 'Extension.',
  signedIn: 'whole',
  answer: SessionsEnded,
  async handle(gateway, call) {
    const own = await ownOf(gateway, call);
    if (isRefused(own)) return own;
    const ended = await endSessions(gateway.db, own.user._id, own.session._id);
    return done({ ended, message: 'All other sessions have ended.' });
  },
});

export const endOwnSession = endpoint({
  id: 'endOwnSession',
  method: 'delete',
  path: '/v2/profile/sessions/{session_id}',
  tag: 'Sign-in',
  summary: 'End one session',
  description: 'Extension.',
  signedIn: 'whole',
  params: {
    session_id: text('Id of the session, from the list.', {
      pattern: '^ses_[0-9a-hjkmnp-tv-z]{26}$',
      example: 'ses_01m7znjn7hdb5pft3awkb6pgvz',
    }),
  },
  answer: SessionsEnded,
  problems: ['session_not_found'],
  examples: { answer: { example: { status: 'success', ended: 1, message: 'The session has ended.' } } },
  async handle(gateway, call) {
    const own = await ownOf(gateway, call);
    if (isRefused(own)) return own;
    const { session_id: id } = call.params;
    const ended = isSessionId(id) && (await endSession(gateway.db, own.user._id, id));
    return ended ? done({ ended: 1, message: 'The session has ended.' }) : refused('session_not_found');
  },
});

function sessionRecord(session: SessionDocument, current: boolean): Shown<typeof OwnSession> {
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
