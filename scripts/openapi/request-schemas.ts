import { CHANGE_PASSWORD } from '../../gateway/endpoints/profile/password.ts';
import { CHANGE_PROFILE } from '../../gateway/endpoints/profile/profile.ts';
import { NEW_RECOVERY_CODES } from '../../gateway/endpoints/profile/recovery-codes.ts';
import {
  BEGIN_SECOND_FACTOR,
  CONFIRM_SECOND_FACTOR,
  REMOVE_SECOND_FACTOR,
} from '../../gateway/endpoints/profile/second-factor.ts';
import { CONFIRM_SESSION } from '../../gateway/endpoints/sign-in/confirm.ts';
import { LOOK_AT_LINK, USE_LINK } from '../../gateway/endpoints/sign-in/link.ts';
import { SIGN_IN } from '../../gateway/endpoints/sign-in/sign-in.ts';
import { CHANGE_USER } from '../../gateway/endpoints/users/change.ts';
import { INVITE_USER } from '../../gateway/endpoints/users/invite.ts';
import { CHANGE_SIGN_IN_RULES } from '../../gateway/endpoints/users/sign-in-rules.ts';
import type { Schema } from '../../gateway/http/fields/field.ts';
import { requestSchema } from '../../gateway/http/fields/request.ts';

/** The schemas of docs/openapi.json that are generated from the gateway's tables of request fields, by their names there. */
export const REQUEST_SCHEMAS: Readonly<Record<string, Schema>> = {
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
};
