import { CREATE_ACCOUNT } from '../../gateway/endpoints/accounts/create.ts';
import { CREDIT } from '../../gateway/endpoints/accounts/credit.ts';
import { ACCOUNT_STATUS } from '../../gateway/endpoints/accounts/set-status.ts';
import { UPDATE_ACCOUNT } from '../../gateway/endpoints/accounts/update.ts';
import { DECIDE_SENDER, DECIDE_TEMPLATE } from '../../gateway/endpoints/approvals/decision-fields.ts';
import { PROVIDER_STATUS } from '../../gateway/endpoints/carriers/providers.ts';
import { CARRIER_STATUS } from '../../gateway/endpoints/carriers/set-status.ts';
import { UPDATE_CARRIER } from '../../gateway/endpoints/carriers/update.ts';
import { START_CHECK } from '../../gateway/endpoints/ledger-checks/ledger-checks.ts';
import { ADD_NUMBER } from '../../gateway/endpoints/numbers/operators-numbers.ts';
import { INVITE_TO_ACCOUNT } from '../../gateway/endpoints/operators/invite.ts';
import { USER_STATUS } from '../../gateway/endpoints/operators/support.ts';
import { PUT_ROUTE } from '../../gateway/endpoints/routes/route-fields.ts';
import type { Schema } from '../../gateway/http/fields/field.ts';
import { requestSchema } from '../../gateway/http/fields/request.ts';

/** The requests of operators, by their names in docs/openapi.json. */
export const OPERATOR_SCHEMAS: Readonly<Record<string, Schema>> = {
  CreateAccountRequest: requestSchema(CREATE_ACCOUNT),
  UpdateAccountRequest: requestSchema(UPDATE_ACCOUNT),
  AccountStatusRequest: requestSchema(ACCOUNT_STATUS),
  CreditRequest: requestSchema(CREDIT),
  DecideSenderRequest: requestSchema(DECIDE_SENDER),
  DecideTemplateRequest: requestSchema(DECIDE_TEMPLATE),
  UpdateCarrierRequest: requestSchema(UPDATE_CARRIER),
  CarrierStatusRequest: requestSchema(CARRIER_STATUS),
  PutRouteRequest: requestSchema(PUT_ROUTE),
  ProviderStatusRequest: requestSchema(PROVIDER_STATUS),
  AddNumberRequest: requestSchema(ADD_NUMBER),
  InviteToAccountRequest: requestSchema(INVITE_TO_ACCOUNT),
  UserStatusRequest: requestSchema(USER_STATUS),
  LedgerCheckRequest: requestSchema(START_CHECK),
};
