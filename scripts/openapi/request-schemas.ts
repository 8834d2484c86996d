import { EDIT_CHAT_TEMPLATE, REQUEST_CHAT_TEMPLATE } from '../../gateway/endpoints/chat-templates/fields.ts';
import { SEND_BUTTONS } from '../../gateway/endpoints/chatapp/send-buttons.ts';
import { SEND_MEDIA } from '../../gateway/endpoints/chatapp/send-media.ts';
import { SEND_TEMPLATE } from '../../gateway/endpoints/chatapp/send-template.ts';
import { SEND_TEXT } from '../../gateway/endpoints/chatapp/send-text.ts';
import { REGISTER_WEBHOOK } from '../../gateway/endpoints/chatapp/webhook.ts';
import { CREATE_KEY } from '../../gateway/endpoints/keys/create-key.ts';
import { ROTATE_KEY } from '../../gateway/endpoints/keys/rotate-key.ts';
import { UPDATE_KEY } from '../../gateway/endpoints/keys/update-key.ts';
import { ADD_OPT_OUT } from '../../gateway/endpoints/numbers/opt-outs.ts';
import { CHANGE_PASSWORD } from '../../gateway/endpoints/profile/password.ts';
import { CHANGE_PROFILE } from '../../gateway/endpoints/profile/profile.ts';
import { NEW_RECOVERY_CODES } from '../../gateway/endpoints/profile/recovery-codes.ts';
import {
  BEGIN_SECOND_FACTOR,
  CONFIRM_SECOND_FACTOR,
  REMOVE_SECOND_FACTOR,
} from '../../gateway/endpoints/profile/second-factor.ts';
import { REQUEST_SENDER } from '../../gateway/endpoints/senders/request.ts';
import { CONFIRM_SESSION } from '../../gateway/endpoints/sign-in/confirm.ts';
import { LOOK_AT_LINK, USE_LINK } from '../../gateway/endpoints/sign-in/link.ts';
import { SIGN_IN } from '../../gateway/endpoints/sign-in/sign-in.ts';
import { SCHEDULE_BULK, SCHEDULE_MESSAGE } from '../../gateway/endpoints/sms/schedule.ts';
import { SEND } from '../../gateway/endpoints/sms/send.ts';
import { SEND_BULK } from '../../gateway/endpoints/sms/send-bulk.ts';
import { CHECK_TEMPLATE } from '../../gateway/endpoints/templates/check.ts';
import { CHANGE_TEMPLATE, REQUEST_TEMPLATE } from '../../gateway/endpoints/templates/fields.ts';
import { IMPORT_TEMPLATES } from '../../gateway/endpoints/templates/import.ts';
import { CHANGE_USER } from '../../gateway/endpoints/users/change.ts';
import { INVITE_USER } from '../../gateway/endpoints/users/invite.ts';
import { CHANGE_SIGN_IN_RULES } from '../../gateway/endpoints/users/sign-in-rules.ts';
import { CREATE_WEBHOOK } from '../../gateway/endpoints/webhooks/create-webhook.ts';
import { START_REPLAY } from '../../gateway/endpoints/webhooks/replays.ts';
import { ROTATE_SECRET } from '../../gateway/endpoints/webhooks/rotate-secret.ts';
import { UPDATE_WEBHOOK } from '../../gateway/endpoints/webhooks/update-webhook.ts';
import type { Schema } from '../../gateway/http/fields/field.ts';
import { requestSchema } from '../../gateway/http/fields/request.ts';
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
  SignInRequest: requestSchema(SIGN_IN),
  ConfirmSessionRequest: requestSchema(CONFIRM_SESSION),
  ChatTemplateDraftRequest: requestSchema(REQUEST_CHAT_TEMPLATE),
  ChatTemplateEditRequest: requestSchema(EDIT_CHAT_TEMPLATE),
  SenderRequest: requestSchema(REQUEST_SENDER),
  TemplateRequest: requestSchema(REQUEST_TEMPLATE),
  TemplateChangeRequest: requestSchema(CHANGE_TEMPLATE),
  TemplateCheckRequest: requestSchema(CHECK_TEMPLATE),
  TemplateImportRequest: requestSchema(IMPORT_TEMPLATES),
  LinkRequest: requestSchema(LOOK_AT_LINK),
  LinkPasswordRequest: requestSchema(USE_LINK),
  ProfileRequest: requestSchema(CHANGE_PROFILE),
  PasswordRequest: requestSchema(CHANGE_PASSWORD),
  SecondFactorRequest: requestSchema(BEGIN_SECOND_FACTOR),
  SecondFactorConfirmRequest: requestSchema(CONFIRM_SECOND_FACTOR),
  SecondFactorRemoveRequest: requestSchema(REMOVE_SECOND_FACTOR),
  RecoveryCodesRequest: requestSchema(NEW_RECOVERY_CODES),
  InviteUserRequest: requestSchema(INVITE_USER),
  ChangeUserRequest: requestSchema(CHANGE_USER),
  SignInRulesRequest: requestSchema(CHANGE_SIGN_IN_RULES),
  OptOutRequest: requestSchema(ADD_OPT_OUT),
  CreateKeyRequest: requestSchema(CREATE_KEY),
  UpdateKeyRequest: requestSchema(UPDATE_KEY),
  RotateKeyRequest: requestSchema(ROTATE_KEY),
  CreateWebhookRequest: requestSchema(CREATE_WEBHOOK),
  UpdateWebhookRequest: requestSchema(UPDATE_WEBHOOK),
  RotateSecretRequest: requestSchema(ROTATE_SECRET),
  StartReplayRequest: requestSchema(START_REPLAY),
  ChatWebhookRequest: requestSchema(REGISTER_WEBHOOK),
  ...OPERATOR_SCHEMAS,
};
