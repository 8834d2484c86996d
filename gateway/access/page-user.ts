import { sendProblem } from '../http/answer.ts';
import { type Reply, requesterOf } from '../http/context.ts';
import { CHALLENGE } from './unauthorized.ts';

/**
 * Refuses what a page of somebody else asks for: `user`, of the query, is whom the page was made for. Links and streams cannot send
 * `X-Dashboard-User`, which says the same. Returns whether it is answered.
 */
export function refusesOther(res: Reply, user: string | undefined): boolean {
  if (user === undefined || user === requesterOf(res).who.id) return false;
  sendProblem(res, 'other_user', CHALLENGE);
  return true;
}
