import type { Endpoint } from '../http/endpoint.ts';
import { audit } from './audit/audit.ts';
import { createKey, keys, revoke, rotateKey, showKey, updateKey } from './keys/keys.ts';
import { ledger, ledgerCsv } from './ledger/ledger.ts';
import { numbers } from './numbers/numbers.ts';
import { addOptOut, optOuts, removeOptOut } from './numbers/opt-outs.ts';
import { confirmSession } from './sign-in/confirm.ts';
import { lookAtLink, useLink } from './sign-in/link.ts';
import { endOtherSessions, endOwnSession, ownSessions } from './sign-in/own-sessions.ts';
import { changePassword, changeProfile, profile } from './sign-in/profile.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  newRecoveryCodes,
  removeSecondFactor,
} from './sign-in/second-factor.ts';
import { ownSession, signIn, signOut } from './sign-in/session.ts';
import {
  changeUser,
  endUserSessions,
  removeUser,
  removeUserSecondFactor,
  showUser,
  userLink,
} from './users/change-user.ts';
import { changeSignInRules, signInRules } from './users/sign-in-rules.ts';
import { invite, users } from './users/users.ts';
import { deliveries, replayOne, showDelivery } from './webhooks/deliveries.ts';
import { replays, showReplay, startedReplay } from './webhooks/replays.ts';
import {
  createWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhookSecret,
  showWebhook,
  testWebhook,
  updateWebhook,
} from './webhooks/webhooks.ts';

/** All endpoints, in the order of the document. The router tries them in this order too, so the busiest come first. */
export const ENDPOINTS: readonly Endpoint[] = [
  ledger,
  ledgerCsv,
  optOuts,
  addOptOut,
  removeOptOut,
  numbers,
  audit,
  keys,
  createKey,
  showKey,
  updateKey,
  revoke,
  rotateKey,
  listWebhooks,
  createWebhook,
  showWebhook,
  updateWebhook,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
  deliveries,
  showDelivery,
  replayOne,
  replays,
  startedReplay,
  showReplay,
  users,
  invite,
  showUser,
  changeUser,
  removeUser,
  userLink,
  removeUserSecondFactor,
  endUserSessions,
  signInRules,
  changeSignInRules,
  signIn,
  ownSession,
  signOut,
  confirmSession,
  lookAtLink,
  useLink,
  profile,
  changeProfile,
  changePassword,
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  newRecoveryCodes,
  ownSessions,
  endOtherSessions,
  endOwnSession,
];
