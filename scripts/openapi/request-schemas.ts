import { ADD_OPT_OUT } from '../../gateway/account/opt-outs.ts';
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
  OptOutRequest: requestSchema(ADD_OPT_OUT),
  ChatWebhookRequest: requestSchema(REGISTER_WEBHOOK),
};
