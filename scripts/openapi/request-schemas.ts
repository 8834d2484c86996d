import { ADD_OPT_OUT } from '../../gateway/account/opt-outs.ts';
import { CHANGE_USER } from '../../gateway/account/users/change.ts';
import { INVITE_USER } from '../../gateway/account/users/invite.ts';
import { CHANGE_SIGN_IN_RULES } from '../../gateway/account/users/sign-in-rules.ts';
import type { Schema } from '../../gateway/fields/field.ts';
import { requestSchema } from '../../gateway/fields/request.ts';
import { CONFIRM_SESSION } from '../../gateway/sign-in/confirm.ts';
import { LOOK_AT_LINK, USE_LINK } from '../../gateway/sign-in/link.ts';
import { CHANGE_PASSWORD } from '../../gateway/sign-in/profile/password.ts';
import { CHANGE_PROFILE } from '../../gateway/sign-in/profile/profile.ts';
import { NEW_RECOVERY_CODES } from '../../gateway/sign-in/profile/recovery-codes.ts';
import {
  BEGIN_SECOND_FACTOR,
  CONFIRM_SECOND_FACTOR,
  REMOVE_SECOND_FACTOR,
} from '../../gateway/sign-in/profile/second-factor.ts';
import { SIGN_IN } from '../../gateway/sign-in/sign-in.ts';
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
  SignInRequest: requestSchema(SIGN_IN),
  ConfirmSessionRequest: requestSchema(CONFIRM_SESSION),
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
  ...OPERATOR_SCHEMAS,
};
