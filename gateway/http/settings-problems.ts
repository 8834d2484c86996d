import { fault, type ProblemRule } from './problem-rule.ts';

/** What requests about an account's keys, webhooks and senders may be told. */
export const SETTINGS_PROBLEMS = {
  too_many_keys: fault(
    '4610',
    403,
    'Too many keys',
    'The account has 50 keys that work. Revoke one that is not used: `GET /v2/account/keys` shows when each was used last.',
  ),
  key_not_found: fault('4611', 404, 'Key not found', 'Check the `key_id`: `GET /v2/account/keys` lists them.'),
  webhook_not_found: fault(
    '4612',
    404,
    'Webhook not found',
    'Check the `webhook_id`: `GET /v2/account/webhooks` lists them.',
  ),
  delivery_not_found: fault(
    '4613',
    404,
    'Delivery not found',
    'Check the `event_id`: the webhook has no delivery of that event, or it is older than deliveries are kept.',
  ),
  replay_not_found: fault(
    '4614',
    404,
    'Replay not found',
    'Check the `replay_id`: the webhook has no such replay, or it ended long ago.',
  ),
  export_not_found: fault(
    '4661',
    404,
    'Export not found',
    'Check the `export_id`: the account has no such export, or it was made more than a day ago.',
  ),
  export_not_ready: fault(
    '4662',
    409,
    'Export not ready',
    'Wait until its `state` is `done`: `GET /v2/account/exports/{export_id}` says how far it is.',
  ),
  key_not_active: fault(
    '4615',
    409,
    'Key not active',
    'The key is revoked, expired or replaced. Create a new key, or change the one that replaces it.',
  ),
  webhook_disabled: fault(
    '4616',
    409,
    'Webhook disabled',
    'Enable the webhook first: `PATCH /v2/account/webhooks/{webhook_id}` with `{"state": "active"}`.',
  ),
  delivery_pending: fault(
    '4617',
    409,
    'Delivery pending',
    'The delivery is on its way or waits for its next try. Nothing needs to be done.',
  ),
  replay_running: fault(
    '4618',
    409,
    'Replay running',
    'A replay of this webhook is still running. Wait until it has ended: `GET /v2/account/webhooks/{webhook_id}/replays`.',
  ),
  key_beyond_caller: fault(
    '4619',
    403,
    'Key reaches farther',
    'The key reaches farther than yours, which could not make it. Ask who made it, or sign in to the dashboard.',
  ),
  key_changed: fault(
    '4620',
    409,
    'Key changed',
    'Somebody changed the key, or the one that asks, at the same moment. Nothing was done. Read it again, then decide.',
  ),
  user_has_keys: fault(
    '4621',
    409,
    'User has keys',
    'Say what becomes of the keys that the user made: `keys` is `keep` or `revoke`.',
  ),
  quota_reached: fault(
    '4660',
    403,
    'Quota reached',
    'The account has as many things of this kind as it may have made. Remove what you do not need, or ask your service provider. `quota` names the kind, `limit` how many.',
  ),
  sender_not_found: fault(
    '4073',
    404,
    'Sender not found',
    'Check the sender: the account has none of this name. Case matters.',
  ),
  sender_exists: fault(
    '4102',
    409,
    'Sender exists',
    'The account has this sender already. To ask for other routes, remove it first; it then waits for an approval again.',
  ),
  cta_not_found: fault(
    '4052',
    404,
    'Link or number not found',
    'Check the cta_id: the account has none of this id. `GET /v2/account/ctas` lists them.',
  ),
  cta_exists: fault(
    '4123',
    409,
    'Link or number exists',
    'The account has it already: `GET /v2/account/ctas` has its state.',
  ),
  secret_unreadable: fault(
    '5035',
    503,
    'Stored secret unreadable',
    'Nothing was done. The secret key of the service is not the one that a stored secret was encrypted with. Ask your service provider to put it back; if it is lost, give the webhook a new secret with `POST /v2/account/webhooks/{webhook_id}/rotate`.',
    true,
  ),
} as const satisfies Record<string, ProblemRule>;
