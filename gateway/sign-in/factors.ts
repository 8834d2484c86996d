import { errorFields } from '../../shared/runtime/log.ts';
import { SecretUnreadable } from '../../shared/runtime/secret-box.ts';
import type { SessionDocument } from '../../shared/users/session.ts';
import type { UserDocument } from '../../shared/users/user.ts';
import { sendProblem } from '../http/answer.ts';
import type { Reply } from '../http/context.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { takeRecoveryCode, takeStep } from './own-store.ts';
import { passwordMatches } from './passwords.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { stepOf } from './totp.ts';

/** What somebody shows who wants to sign in. */
interface Shown {
  readonly password: string;
  readonly code?: string;
  readonly recovery_code?: string;
}

type RefusalSlug =
  | 'sign_in_failed'
  | 'second_factor_missing'
  | 'second_factor_wrong'
  | 'second_factor_unreadable'
  | 'sign_in_busy';

type Proof =
  | { readonly kind: 'good'; readonly user: UserDocument; readonly factor: SessionDocument['factor'] }
  /** `isFailure`: it may have been a guess. */
  | { readonly kind: 'refused'; readonly slug: RefusalSlug; readonly isFailure: boolean };

type WithApp = UserDocument & Required<Pick<UserDocument, 'totp'>>;

/** Checks a password and the second factor. A code that is right is used up by the check. */
export class Factors {
  readonly #deps: Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'log'>;

  constructor(deps: Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'log'>) {
    this.#deps = deps;
  }

  /** Takes as long for no user as for one. */
  async check(user: UserDocument | undefined, { password, code, recovery_code }: Shown): Promise<Proof> {
    const matches = await passwordMatches(password, user?.password);
    if (matches === undefined) return { kind: 'refused', slug: 'sign_in_busy', isFailure: false };
    if (!matches || user === undefined) return { kind: 'refused', slug: 'sign_in_failed', isFailure: true };
    if (user.totp === undefined) return { kind: 'good', user, factor: undefined };
    const withApp = { ...user, totp: user.totp };
    const seed = code === undefined ? undefined : this.#seedOf(withApp);
    if (code !== undefined && seed !== undefined && (await this.#isCode(withApp, seed, code))) {
      return { kind: 'good', user, factor: 'totp' };
    }
    if (recovery_code !== undefined && (await this.#isRecoveryCode(user, recovery_code))) {
      return { kind: 'good', user, factor: 'recovery_code' };
    }
    if (code === undefined && recovery_code === undefined) {
      return { kind: 'refused', slug: 'second_factor_missing', isFailure: false };
    }
    if (code !== undefined && seed === undefined) {
      return { kind: 'refused', slug: 'second_factor_unreadable', isFailure: false };
    }
    return { kind: 'refused', slug: 'second_factor_wrong', isFailure: true };
  }

  /** Undefined when it was stored with another secret key, which only an operator can put back. */
  #seedOf({ _id, totp }: WithApp): string | undefined {
    const { box, log } = this.#deps;
    try {
      return box.open(totp.seed);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      log.error('secret_unreadable', { user_id: _id, ...errorFields(error) });
      return undefined;
    }
  }

  async #isCode(user: WithApp, seed: string, code: string): Promise<boolean> {
    const { db, clock } = this.#deps;
    const step = await stepOf(seed, code, clock.now(), user.totp.step);
    return step !== undefined && takeStep(db, user, step);
  }

  async #isRecoveryCode(user: UserDocument, code: string): Promise<boolean> {
    const hashed = hashRecoveryCode(code);
    return user.recoveryCodes?.includes(hashed) === true && takeRecoveryCode(this.#deps.db, user._id, hashed);
  }
}

export function sendRefusal(res: Reply, slug: RefusalSlug): void {
  sendProblem(res, slug, slug === 'sign_in_busy' ? { headers: ['Retry-After', '1'] } : {});
}
