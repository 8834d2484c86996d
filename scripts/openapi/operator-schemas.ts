import { DECIDE_SENDER, DECIDE_TEMPLATE } from '../../gateway/admin/approvals/decision-fields.ts';
import type { Schema } from '../../gateway/fields/field.ts';
import { requestSchema } from '../../gateway/fields/request.ts';

/** The requests of operators, by their names in docs/openapi.json. */
export const OPERATOR_SCHEMAS: Readonly<Record<string, Schema>> = {
  DecideSenderRequest: requestSchema(DECIDE_SENDER),
  DecideTemplateRequest: requestSchema(DECIDE_TEMPLATE),
};
