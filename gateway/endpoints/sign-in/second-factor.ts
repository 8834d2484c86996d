import { z } from 'zod';
import { removeSecondFactor as remove } from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { StartError } from '../../../shared/platform/runtime/lifecycle.ts';
import { SEALED_TEXT, type SecretBox } from '../../../shared/platform/runtime/secret-box.ts';
import { isConfirmed, needsSecondFactor } from '../../access/sessions.ts';
import { endpoint, refused, WithHeaders } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import type { SignedIn } from '../../http/context.ts';
import { optional, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { isRefused } from '../../http/idempotency/action.ts';
import { changeOwn, confirmPassword, countTry, ownOf } from './confirm.ts';
import { newRecoveryCodes as newCodes, newSeed, stepOf } from './factors.ts';
import { boundedText, currentPassword } from './fields.ts';
import { putRecoveryCodes, putTotp } from './own-store.ts';
import { Session, sessionRecord } from './session.ts';

const SETUP_MS = 15 * 60_000;

const Codes = z.array(text()).meta({
  description: 'Ten codes, each for one sign-in without the app. They are shown only here.',
  example: ['7v3k-9q2m-x8d4-r5tn-w6pc-0hz1', '2f8s-j4ke-6n7y-q3bv-m9xd-5t1c'],
});

const PASSWORD_SHOWN = { body: { example: { current_password: 'correct horse battery staple' } } };

export const beginSecondFactor = endpoint({
  id: 'beginSecondFactor',
  method: 'post',
  path: '/v2/profile/second-factor',
  tag: 'Sign-in',
  summary: 'Begin to set up an authenticator app',
  description:
    'Extension. Stores nothing: the app counts when a code of it was confirmed. Needs the password, except for the first app within ten minutes after sign-in. Who has an app already must have shown a code of it within the last 10 minutes: `POST /v2/session/confirm`.',
  signedIn: 'incomplete',
  bodyMax: 'small',
  body: request({ current_password: optional(currentPassword) }),
  answer: named('SecondFactorSetup', {
    setup: text('Send it back with a code of the app.', { example: 'v1.5L0cJ8kq.x' }),
    secret: text('To enter in the app by hand, in base32.', { example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }),
    uri: text('The same as `otpauth:` address.', {
      example: 'otpauth://totp/Harkara:asha%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Harkara',
    }),
    qr_svg: text('The same as a QR code, in SVG.', { example: '<svg xmlns="http://www.w3.org/2000/svg"></svg>' }),
    expires_at: text('Until then it can be confirmed.', { format: 'date-time', example: '2026-11-22T10:00:00+00:00' }),
  }),
  problems: ['password_needed', 'password_wrong', 'confirmation_required', 'sign_in_limited', 'sign_in_busy'],
  examples: PASSWORD_SHOWN,
  async handle(gateway, call) {
    const own = ownOf(call);
    const { clock, box } = gateway;
    const { current_password: password } = call.body;
    if (password !== undefined) {
      const lane = await confirmPassword(gateway, call, own, password);
      if (isRefused(lane)) return lane;
    } else {
      if (!justSignedIn(own, clock.now())) return refused('password_needed');
      // Drawing the QR code takes 5 ms of the event loop, so it is limited like a hash.
      const limited = await countTry(gateway, call, own.user);
      if (limited !== undefined) return limited;
    }
    const { seed, uri, qrSvg } = await newSeed(own.user.username);
    const until = new Date(clock.now().getTime() + SETUP_MS);
    const setup = sealSetup(box, own.user, seed, until);
    return { setup, secret: seed, uri, qr_svg: qrSvg, expires_at: isoTimestamp(until) };
  },
});

/** A user who has just shown the password need not show it again for the first second factor. */
function justSignedIn({ user, session }: SignedIn, now: Date): boolean {
  return user.totp === undefined && isConfirmed(session, now);
}

export const confirmSecondFactor = endpoint({
  id: 'confirmSecondFactor',
  method: 'post',
  path: '/v2/profile/second-factor/confirm',
  tag: 'Sign-in',
  summary: 'Confirm the authenticator app',
  description:
    'Extension. From now on sign-in needs its code; an earlier app and earlier recovery codes are void. All other sessions end; this one gets another cookie.',
  signedIn: 'incomplete',
  bodyMax: 'small',
  body: request({
    setup: required(boundedText('As `POST /v2/profile/second-factor` gave it.', 2_000)),
    code: required(boundedText('The code that the app shows now.', 20)),
  }),
  answer: named('SecondFactorSet', { session: Session, recovery_codes: Codes }),
  problems: ['setup_invalid', 'second_factor_wrong', 'sign_in_limited'],
  examples: { body: { example: { setup: 'v1.5L0cJ8kq.x', code: '123456' } } },
  async handle(gateway, call) {
    const own = ownOf(call);
    const { clock, db, box, sessions } = gateway;
    const { setup, code } = call.body;
    const now = clock.now();
    const seed = openSetup(box, own.user, setup, now);
    if (seed === undefined) return refused('setup_invalid');
    const limited = await countTry(gateway, call, own.user);
    if (limited !== undefined) return limited;
    // A wrong code is no guess: whoever has the setup knows the seed.
    const step = await stepOf(seed, code, now, 0);
    if (step === undefined) return refused('second_factor_wrong');
    const { codes, hashes } = newCodes();
    const totp = { seed: box.seal(seed, ['users', own.user._id, 'totp.seed']), step, since: now };
    const user = await changeOwn(gateway, call, 'user.set-second-factor', own.user, () =>
      putTotp(db, own.user, totp, hashes),
    );
    if (user === undefined) return refused('setup_invalid');
    const { confirmedAt } = own.session;
    const { session, cookie } = await sessions.renew(call.req, user, { factor: 'totp', confirmedAt });
    const record = { session: sessionRecord({ ...own, user, session }), recovery_codes: codes };
    return new WithHeaders(record, sessions.cookie.write(cookie));
  },
});

/** From then on the password alone suffices. */
export const removeSecondFactor = endpoint({
  id: 'removeSecondFactor',
  method: 'post',
  path: '/v2/profile/second-factor/remove',
  tag: 'Sign-in',
  summary: 'Remove the authenticator app',
  description:
    'Extension. Only where neither the role nor the account needs one. All other sessions end. A code must have been shown within the last 10 minutes: `POST /v2/session/confirm`.',
  signedIn: 'whole',
  bodyMax: 'small',
  body: request({ current_password: required(currentPassword) }),
  answer: Session,
  problems: ['second_factor_required', 'password_wrong', 'confirmation_required', 'sign_in_limited', 'sign_in_busy'],
  examples: PASSWORD_SHOWN,
  async handle(gateway, call) {
    const own = ownOf(call);
    const { db, sessions } = gateway;
    const lane = await confirmPassword(gateway, call, own, call.body.current_password);
    if (isRefused(lane)) return lane;
    if (needsSecondFactor(own.user, own.account)) return refused('second_factor_required');
    const user = await changeOwn(gateway, call, 'user.remove-second-factor', own.user, () => remove(db, own.user._id));
    if (user === undefined) return refused('session_ended');
    const { session, cookie } = await sessions.renew(call.req, user, { factor: undefined });
    return new WithHeaders(sessionRecord({ ...own, user, session }), sessions.cookie.write(cookie));
  },
});

export const newRecoveryCodes = endpoint({
  id: 'newRecoveryCodes',
  method: 'post',
  path: '/v2/profile/recovery-codes',
  tag: 'Sign-in',
  summary: 'New recovery codes',
  description:
    'Extension. Those from before are void. A code must have been shown within the last 10 minutes: `POST /v2/session/confirm`.',
  signedIn: 'whole',
  bodyMax: 'small',
  body: request({ current_password: required(currentPassword) }),
  answer: named('RecoveryCodes', { recovery_codes: Codes }),
  problems: ['password_wrong', 'confirmation_required', 'sign_in_limited', 'sign_in_busy'],
  examples: PASSWORD_SHOWN,
  async handle(gateway, call) {
    const own = ownOf(call);
    const lane = await confirmPassword(gateway, call, own, call.body.current_password);
    if (isRefused(lane)) return lane;
    const { codes, hashes } = newCodes();
    const user = await changeOwn(gateway, call, 'user.renew-recovery-codes', own.user, () =>
      putRecoveryCodes(gateway.db, own.user, hashes),
    );
    return user === undefined ? refused('second_factor_needed') : { recovery_codes: codes };
  },
});

/**
 * A sealed seed on its way to the app and back: nothing is stored before a code confirms it. For this user only, and
 * void once anything, such as its own confirmation, ends the user's sessions.
 */
function sealSetup(box: SecretBox, { _id, epoch }: UserDocument, seed: string, until: Date): string {
  return box.seal(JSON.stringify([epoch, until.getTime(), seed]), ['users', _id, 'setup']);
}

/** Undefined when the setup is too old, void or malformed. */
function openSetup(box: SecretBox, { _id, epoch }: UserDocument, setup: string, now: Date): string | undefined {
  const parts: unknown = JSON.parse(opened(box, _id, setup) ?? 'null');
  if (!Array.isArray(parts)) return undefined;
  const [of, untilMs, seed]: unknown[] = parts;
  const valid = of === epoch && typeof untilMs === 'number' && untilMs > now.getTime();
  return valid && typeof seed === 'string' ? seed : undefined;
}

function opened(box: SecretBox, user: string, setup: string): string | undefined {
  if (!SEALED_TEXT.test(setup)) return undefined;
  try {
    return box.open(setup, ['users', user, 'setup']);
  } catch (error) {
    if (error instanceof StartError) return undefined;
    throw error;
  }
}
