import { sendProblem } from '../http/answer.ts';
import { type Reply, requesterOf } from '../http/context.ts';
import { choice, optional, string } from '../http/fields/field.ts';
import { CHALLENGE } from './rate-limit.ts';

/** A query parameter for requests for which a page cannot set headers: links and streams. */
export function pageUser(what: 'link' | 'stream') {
  const description = `Only the session of this user (\`user_id\`); otherwise \`other_user\`. A browser cannot send the header \`X-Dashboard-User\` with a ${what}.`;
  return optional(string({ description }, (id) => id));
}

/** An operator's page names the account that it looks at, as the header `Harkara-Account` does. */
export function pageAccount() {
  return optional(
    string(
      { description: 'For operators: the account that they look at.', pattern: '^acc_[0-9a-hjkmnp-tv-z]{26}$' },
      (id) => id,
    ),
  );
}

/**
 * Refuses a request of a page that another user opened before this one signed in. `user` comes from the query because
 * links and streams cannot send the header `X-Dashboard-User`. True when refused.
 */
export function refusesOther(res: Reply, user: string | undefined): boolean {
  if (user === undefined || user === requesterOf(res).who.id) return false;
  sendProblem(res, 'other_user', CHALLENGE);
  return true;
}

export function pageMode() {
  return optional(choice(['test'], 'For pages: of test messages, as the header `Harkara-Mode: test` says.'));
}
