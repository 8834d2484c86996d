import { fault } from './problem-rule.ts';

/** What can go wrong with what operators do: `/v2/admin/…`. */
export const OPERATOR_PROBLEMS = {
  account_not_found: fault(
    '4070',
    404,
    'Account not found',
    'Check the account_id: `GET /v2/admin/accounts` lists them.',
  ),
  account_not_named: fault(
    '4115',
    400,
    'Account not named',
    'You are an operator: name the account that you look at in the header `Harkara-Account`.',
  ),
  account_only: fault('4116', 403, 'For the account only', 'Operators are not shown this. Ask the account for it.'),
  carrier_not_found: fault(
    '4071',
    404,
    'Carrier not found',
    'Check the carrier_id: `GET /v2/admin/carriers` lists them.',
  ),
  route_not_found: fault('4072', 404, 'Route not found', 'Check the route_id: `GET /v2/admin/routes` lists them.'),
  provider_not_found: fault(
    '4074',
    404,
    'Chat-app number not found',
    'Check the account_id: the account has no number on the chat-app channel.',
  ),
  number_not_found: fault(
    '4075',
    404,
    'Number not found',
    'Check number and keyword: `GET /v2/admin/numbers` lists them.',
  ),
  ledger_check_not_found: fault(
    '4076',
    404,
    'Ledger check not found',
    'Check the ledger_check_id: `GET /v2/admin/ledger-checks` lists the last ones.',
  ),
  operator_by_ops: fault(
    '4077',
    403,
    'Only on the machine',
    'This user is an operator. On the machine, `npm run ops -- user reset NAME` makes a new link; with `--second-factor` it also removes the app.',
  ),
  template_changed: fault(
    '4098',
    409,
    'Template changed',
    'The account has changed the template since you read it. Read it again, then decide.',
  ),
  sender_changed: fault(
    '4103',
    409,
    'Sender changed',
    'The account has asked for it anew since you read it. Read it again, then decide.',
  ),
  account_closed: fault(
    '4104',
    409,
    'Account closed',
    'The account is closed for good. Create a new one to go on with this customer.',
  ),
  carrier_exists: fault(
    '4106',
    409,
    'Carrier exists',
    'There is a carrier with this carrier_id. Change it, or choose another id.',
  ),
  carrier_in_use: fault('4105', 409, 'Carrier in use', 'See `detail`: what it has must end first.'),
  opt_in_not_found: fault('4079', 404, 'Not on the list', 'Check the customer: the list of opt-ins has who is on it.'),
  chain_not_found: fault(
    '4081',
    404,
    'Chain not found',
    'Check the carrier_id: the account has no telemarketers of its own there.',
  ),
  ledger_check_running: fault(
    '4099',
    409,
    'A ledger check is running',
    'Wait until it is done. `ledger_check_id` names it.',
  ),
} as const;
