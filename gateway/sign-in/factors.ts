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

type RefusalSlug = 'sign_in_failed' | 'second_factor_missing' | 'second_factor_wrong' | 'sign_in_busy';

type Proof =
  | { readonly kind: 'good'; readonly user: UserDocument; readonly factor: SessionDocument['factor'] }
  /** `isFailure`: it may have been a guess. */
  | { readonly kind: 'refused'; readonly slug: RefusalSlug; readonly isFailure: boolean };

/** Checks a password and the second factor. A code that is right is used up by the check. */
export class Factors {
  readonly #deps: Pick<GatewayDeps, 'db' | 'clock' | 'box'>;

  constructor(deps: Pick<GatewayDeps, 'db' | 'clock' | 'box'>) {
    this.#deps = deps;
  }

  /** Takes as long for no user as for one. */
  async check(user: UserDocument | undefined, { password, code, recovery_code }: Shown): Promise<Proof> {
    const matches = await passwordMatches(password, user?.password);
    if (matches === undefined) return { kind: 'refused', slug: 'sign_in_busy', isFailure: false };
    if (!matches || user === undefined) return { kind: 'refused', slug: 'sign_in_failed', isFailure: true };
    if (user.totp === undefined) return { kind: 'good', user, factor: undefined };
    if (code !== undefined && (await this.#isCode(user, code))) return { kind: 'good', user, factor: 'totp' };
    if (recovery_code !== undefined && (await this.#isRecoveryCode(user, recovery_code))) {
      return { kind: 'good', user, factor: 'recovery_code' };
    }
    if (code === undefined && recovery_code === undefined) {
      return { kind: 'refused', slug: 'second_factor_missing', isFailure: false };
    }
    return { kind: 'refused', slug: 'second_factor_wrong', isFailure: true };
  }

  async #isCode(user: UserDocument, code: string): Promise<boolean> {
    const { db, clock, box } = this.#deps;
    if (user.totp === undefined) return false;
    const step = await stepOf(box.open(user.totp.seed), code, clock.now(), user.totp.step);
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
