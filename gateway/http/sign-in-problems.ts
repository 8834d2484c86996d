import { fault } from './problem-rule.ts';

/** What can go wrong with people's sign-in, sessions and profiles. */
export const SIGN_IN_PROBLEMS = {
  session_missing: fault('4015', 401, 'Not signed in', 'Sign in: `POST /v2/session`. An API key cannot do this.'),
  session_ended: fault('4016', 401, 'Session ended', 'Sign in again. Nothing was done.'),
  other_user: fault(
    '4078',
    401,
    'Somebody else has signed in',
    'Nothing was done: the session is not of the user whom the request names. Reload the page, or sign in again.',
  ),
  sign_in_failed: fault('4017', 401, 'Name or password is wrong', 'Check both. Nobody is told which one is wrong.'),
  second_factor_missing: fault(
    '4018',
    401,
    'Second factor missing',
    'Name and password are right. Send them again with `code` from your authenticator app, or with a `recovery_code`.',
  ),
  second_factor_wrong: fault(
    '4019',
    401,
    'Code is wrong',
    'Wait for the next code of your authenticator app, because each works once. Check the time of your phone.',
  ),
  password_wrong: fault('4066', 403, 'Password is wrong', 'Enter the password that you sign in with now.'),
  password_needed: fault('4067', 403, 'Password needed', 'Send your password again as `current_password`.'),
  link_invalid: fault(
    '4068',
    403,
    'Link is no longer valid',
    'It was used, replaced by a newer one, or is too old. Ask an owner of the account, or your service provider, for a new one.',
  ),
  setup_invalid: fault('4069', 403, 'Set-up is over', 'Begin again: `POST /v2/profile/second-factor`.'),
  user_not_found: fault('4046', 404, 'User not found', 'Check the user_id: the account has no such user.'),
  session_not_found: fault('4047', 404, 'Session not found', 'Check the session_id: you have no such session.'),
  user_disabled: fault('4096', 409, 'User is disabled', 'Let the user in again first: `status: active`.'),
  own_user: fault(
    '4097',
    409,
    'That is you',
    'Change your own password and app in your profile, which asks for the password: `POST /v2/profile/password`.',
  ),
  last_owner: fault(
    '4093',
    409,
    'Last owner',
    'Make somebody else an owner first. An account needs one who can sign in.',
  ),
  second_factor_required: fault(
    '4094',
    409,
    'Second factor required',
    'Your role or the account needs a second factor. To use another app, set up the new one: it replaces the old one.',
  ),
  username_taken: fault('4095', 409, 'Sign-in name taken', 'Somebody signs in with that name already. Choose another.'),
  sign_in_limited: fault(
    '4293',
    429,
    'Too many wrong attempts',
    'Nothing was looked at. Try again after the seconds in the header `Retry-After`.',
    true,
  ),
  origin_refused: fault(
    '4064',
    403,
    'Not from the dashboard',
    'Sign-ins, and requests with a session cookie, must come from our own pages. Send `X-Dashboard: 1` from the same origin. Behind a proxy, PUBLIC_URL must be the address that browsers use.',
  ),
  second_factor_needed: fault(
    '4065',
    403,
    'Second factor needed',
    'Set up an authenticator app first. Until then your session may do nothing else.',
  ),
  sign_in_busy: fault(
    '5033',
    503,
    'Too many sign-ins at once',
    'Nothing was done. Try again after the seconds in the header `Retry-After`.',
    true,
  ),
} as const;
