import { DECIDE_SENDER, DECIDE_TEMPLATE } from '../../gateway/admin/approvals/decision-fields.ts';
import { INVITE_TO_ACCOUNT } from '../../gateway/admin/users/invite.ts';
import { USER_STATUS } from '../../gateway/admin/users/support.ts';
import type { Schema } from '../../gateway/fields/field.ts';
import { requestSchema } from '../../gateway/fields/request.ts';

/** The requests of operators, by their names in docs/openapi.json. */
export const OPERATOR_SCHEMAS: Readonly<Record<string, Schema>> = {
  DecideSenderRequest: requestSchema(DECIDE_SENDER),
  DecideTemplateRequest: requestSchema(DECIDE_TEMPLATE),
  InviteToAccountRequest: requestSchema(INVITE_TO_ACCOUNT),
  UserStatusRequest: requestSchema(USER_STATUS),
};
