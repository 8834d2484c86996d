import { fault, type ProblemRule } from './problem-rule.ts';

/** Sends beyond a limit that is set for the account or the key. Nothing is charged. The member `limit` names it. */
export const LIMIT_PROBLEMS = {
  spend_limit_reached: fault(
    '4111',
    403,
    'Spending cap reached',
    'Wait until the day or month ends (UTC), or ask for a higher cap: your service provider for the account, an owner of the account for a key.',
  ),
  country_not_allowed: fault(
    '4112',
    403,
    'Country not allowed',
    'The account may send to certain countries only: `GET /v2/account/limits` lists them. Leave these recipients out, or ask your service provider to allow the country.',
  ),
  recipient_limit_reached: fault(
    '4113',
    403,
    'Recipient limit reached',
    'This recipient has got as many messages in this clock hour as the account allows. Send again in the next hour.',
  ),
  conversation_limit_reached: fault(
    '4119',
    403,
    'Conversation limit reached',
    'Write again when this conversation has ended, 24 hours after its first message: then another begins, and is paid for. `GET /v2/account/limits` has the limit; your service provider sets it.',
  ),
  verification_limit_reached: fault(
    '4163',
    403,
    'Too many codes',
    'This number, or this client, was sent as many codes in this clock hour as may be. Ask for the next one in the next hour, and look who asks.',
  ),
  hold_not_found: fault(
    '4118',
    404,
    'Hold not found',
    'Check the prefix: nothing with it is held. `GET /v2/account/limits` lists what is. What is only watched is sent, so there is nothing to release.',
  ),
  traffic_held: fault(
    '4114',
    403,
    'Traffic held',
    'Messages to numbers that begin like this one are held, because they look like fraud: see `GET /v2/account/limits`. If they are right, release them there.',
  ),
} as const satisfies Record<string, ProblemRule>;
