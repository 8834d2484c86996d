import { sendProblem } from '../http/answer.ts';
import { type Handler, requesterOf } from '../http/context.ts';

/** Comes after `createAuthenticate`. Lets users in, also those who have no second factor yet. */
export const requireUser: Handler = (_req, res, next) => {
  if (requesterOf(res).who.kind === 'user') next();
  else sendProblem(res, 'session_missing');
};

/** Lets users in who have all that they need. */
export const requireWholeUser: Handler = (_req, res, next) => {
  const { who } = requesterOf(res);
  if (who.kind !== 'user') sendProblem(res, 'session_missing');
  else if (who.incomplete) sendProblem(res, 'second_factor_needed');
  else next();
};

/**
 * Comes after the scopes, of what would outlive a stolen session: users, keys, secrets, rules of sign-in, money. A user must have
 * shown the password within the last minutes. Keys cannot, and are not asked.
 */
export const requireConfirmed: Handler = (_req, res, next) => {
  const { who } = requesterOf(res);
  if (who.kind !== 'user' || who.confirmed) next();
  else sendProblem(res, 'confirmation_required');
};
