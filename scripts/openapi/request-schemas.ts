import { EDIT_CHAT_TEMPLATE, REQUEST_CHAT_TEMPLATE } from '../../gateway/account/chat-templates/fields.ts';
import { REQUEST_SENDER } from '../../gateway/account/senders/request.ts';
import { CHECK_TEMPLATE } from '../../gateway/account/templates/check.ts';
import { CHANGE_TEMPLATE, REQUEST_TEMPLATE } from '../../gateway/account/templates/fields.ts';
import { IMPORT_TEMPLATES } from '../../gateway/account/templates/import.ts';
import { SEND_BUTTONS } from '../../gateway/chatapp/send-buttons.ts';
import { SEND_MEDIA } from '../../gateway/chatapp/send-media.ts';
import { SEND_TEMPLATE } from '../../gateway/chatapp/send-template.ts';
import { SEND_TEXT } from '../../gateway/chatapp/send-text.ts';
import { REGISTER_WEBHOOK } from '../../gateway/chatapp/webhook.ts';
import type { Schema } from '../../gateway/fields/field.ts';
import { requestSchema } from '../../gateway/fields/request.ts';
import { SCHEDULE_BULK, SCHEDULE_MESSAGE } from '../../gateway/sms/schedule.ts';
import { SEND } from '../../gateway/sms/send.ts';
import { SEND_BULK } from '../../gateway/sms/send-bulk.ts';
import { OPERATOR_SCHEMAS } from './operator-schemas.ts';

/** The schemas of docs/openapi.json that are generated from the gateway's tables of request fields, by their names there. */
export const REQUEST_SCHEMAS: Readonly<Record<string, Schema>> = {
  SendRequest: requestSchema(SEND),
  BulkRequest: requestSchema(SEND_BULK),
  ScheduleRequest: requestSchema(SCHEDULE_MESSAGE),
  ScheduleBulkRequest: requestSchema(SCHEDULE_BULK),
  ChatTemplateRequest: requestSchema(SEND_TEMPLATE),
  ChatTextRequest: requestSchema(SEND_TEXT),
  ChatMediaRequest: requestSchema(SEND_MEDIA),
  ChatButtonsRequest: requestSchema(SEND_BUTTONS),
  ChatTemplateDraftRequest: requestSchema(REQUEST_CHAT_TEMPLATE),
  ChatTemplateEditRequest: requestSchema(EDIT_CHAT_TEMPLATE),
  SenderRequest: requestSchema(REQUEST_SENDER),
  TemplateRequest: requestSchema(REQUEST_TEMPLATE),
  TemplateChangeRequest: requestSchema(CHANGE_TEMPLATE),
  TemplateCheckRequest: requestSchema(CHECK_TEMPLATE),
  TemplateImportRequest: requestSchema(IMPORT_TEMPLATES),
  ChatWebhookRequest: requestSchema(REGISTER_WEBHOOK),
  ...OPERATOR_SCHEMAS,
};
