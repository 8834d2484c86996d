import { removeSecondFactor } from '../../../shared/people/users/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { needsSecondFactor } from '../../access/second-factor.ts';
import { isConfirmed } from '../../access/session-limits.ts';
import type { SignedIn } from '../../access/sessions.ts';
import { sendJson, sendJsonText, sendProblem } from '../../http/answer.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { optional, required } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { putTotp } from '../sign-in/own-store.ts';
import { newRecoveryCodes } from '../sign-in/recovery-codes.ts';
import { sessionView } from '../sign-in/session-view.ts';
import { text } from '../sign-in/text-field.ts';
import { newSeed, stepOf } from '../sign-in/totp.ts';
import { changeOwn, ownOf, type ProfileDeps, type ProfileParts } from './own.ts';
import { currentPassword } from './password.ts';
import { openSetup, SETUP_MS, sealSetup } from './setup.ts';

export const BEGIN_SECOND_FACTOR = request({ current_password: optional(currentPassword) });
export const CONFIRM_SECOND_FACTOR = request({
  setup: required(text('As `POST /v2/profile/second-factor` gave it.', 2_000)),
  code: required(text('The code that the app shows now.', 20)),
});
export const REMOVE_SECOND_FACTOR = request({ current_password: required(currentPassword) });

/** The authenticator app of the user who has signed in. */
export class SecondFactor {
  readonly #deps: ProfileDeps;
  readonly #parts: ProfileParts;

  constructor(deps: ProfileDeps, parts: ProfileParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** POST /v2/profile/second-factor (extension): a new seed for the app. Nothing is stored before a code confirms it. */
  readonly begin: Handler = async (req, res: Reply) => {
    const own = await ownOf(req, res, this.#parts.sessions);
    if (own === undefined) return;
    const { clock, config, box } = this.#deps;
    const read = await readRequest(BEGIN_SECOND_FACTOR, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { current_password: password } = whole(read);
    if (password !== undefined) {
      if (!(await this.#parts.confirmPassword(req, res, own, password))) return;
    } else {
      if (!this.#justSignedIn(own)) return sendProblem(res, 'password_needed');
      // Drawing a code takes 5 ms of the event loop, so it is limited as a hash is.
      if (!(await this.#parts.mayTry(req, res, own.user))) return;
    }
    const { seed, uri, qrSvg } = await newSeed(own.user.username);
    const until = new Date(clock.now().getTime() + SETUP_MS);
    const setup = sealSetup(box, own.user, seed, until);
    sendJson(res, { setup, secret: seed, uri, qr_svg: qrSvg, expires_at: isoTimestamp(until) });
  };

  /** POST /v2/profile/second-factor/confirm (extension): from now on sign-in needs it. Other sessions end. */
  readonly confirm: Handler = async (req, res: Reply) => {
    const { sessions } = this.#parts;
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const { clock, config, db, box } = this.#deps;
    const read = await readRequest(CONFIRM_SECOND_FACTOR, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { setup, code } = whole(read);
    const now = clock.now();
    const seed = openSetup(box, own.user, setup, now);
    if (seed === undefined) return sendProblem(res, 'setup_invalid');
    if (!(await this.#parts.mayTry(req, res, own.user))) return;
    // A wrong code is no guess: whoever has the setup knows the seed.
    const step = await stepOf(seed, code, now, 0);
    if (step === undefined) return sendProblem(res, 'second_factor_wrong');
    const { codes, hashes } = newRecoveryCodes();
    const totp = { seed: box.seal(seed, ['users', own.user._id, 'totp.seed']), step, since: now };
    const user = await changeOwn(this.#deps, res, 'user.set-second-factor', own.user, () =>
      putTotp(db, own.user, totp, hashes),
    );
    if (user === undefined) return sendProblem(res, 'setup_invalid');
    const { session, cookie } = await sessions.renew(req, user, {
      factor: 'totp',
      confirmedAt: own.session.confirmedAt,
    });
    const view = { session: sessionView({ ...own, user, session }), recovery_codes: codes };
    sendJsonText(res, 200, JSON.stringify(view), sessions.cookie.write(cookie));
  };

  /** POST /v2/profile/second-factor/remove (extension): sign-in by password alone, where that is allowed. Other sessions end. */
  readonly remove: Handler = async (req, res: Reply) => {
    const { sessions, confirmPassword } = this.#parts;
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const { clock, config, db } = this.#deps;
    const read = await readRequest(REMOVE_SECOND_FACTOR, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    if (!(await confirmPassword(req, res, own, whole(read).current_password))) return;
    if (needsSecondFactor(own.user, own.account)) return sendProblem(res, 'second_factor_required');
    const user = await changeOwn(this.#deps, res, 'user.remove-second-factor', own.user, () =>
      removeSecondFactor(db, own.user._id),
    );
    if (user === undefined) return sendProblem(res, 'session_ended');
    const { session, cookie } = await sessions.renew(req, user, { factor: undefined });
    const view = sessionView({ ...own, user, session });
    sendJsonText(res, 200, JSON.stringify(view), sessions.cookie.write(cookie));
  };

  /** Whoever has just shown the password need not show it again to set up a second factor for the first time. */
  #justSignedIn({ user, session }: SignedIn): boolean {
    return user.totp === undefined && isConfirmed(session, this.#deps.clock.now());
  }
}
