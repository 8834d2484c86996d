import { hash, randomBytes } from 'node:crypto';
import { generateSecret, generateURI, verify } from 'otplib';
import qrcode from 'qrcode';
import type { SessionDocument, UserDocument } from '../../../shared/people/users/user.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import { SecretUnreadable } from '../../../shared/platform/runtime/secret-box.ts';
import { perProcess, refused } from '../../api/endpoint.ts';
import type { ProblemAnswer } from '../../http/answer.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { Attempts, type Taken, type Trier } from './attempts.ts';
import { takeRecoveryCode, takeStep } from './own-store.ts';
import { HashQueue, type Lane, Passwords } from './passwords.ts';

interface FactorDeps extends Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'log'> {
  readonly attempts: Attempts;
  readonly passwords: Passwords;
}

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
  | 'sign_in_busy'
  | 'account_needed';

type Proof =
  | {
      readonly kind: 'good';
      readonly user: UserDocument;
      readonly factor: SessionDocument['factor'];
      readonly guesses: readonly Taken[];
    }
  | {
      readonly kind: 'refused';
      readonly slug: RefusalSlug;
      /** Whether the attempt may have been a guess. */
      readonly isFailure: boolean;
      readonly guesses: readonly Taken[];
      /** With `account_needed`: all users with this password. */
      readonly users?: readonly UserDocument[];
    };

type WithApp = UserDocument & Required<Pick<UserDocument, 'totp'>>;

/** Checks a password and the second factor. A right code is used up. */
class Factors {
  readonly #deps: FactorDeps;

  constructor(deps: FactorDeps) {
    this.#deps = deps;
  }

  /** Takes as long for no user as for one or several of the same name. */
  async check(trier: Trier, lane: Lane, shown: Shown): Promise<Proof> {
    const { attempts, passwords } = this.#deps;
    const stored = trier.users.flatMap(({ password }) => password ?? []);
    const [guesses, right] = await Promise.all([
      attempts.beginEach(trier),
      passwords.matching(lane, shown.password, stored),
    ]);
    const unproved = (slug: RefusalSlug, isFailure: boolean, of: readonly Taken[] = []): Proof => ({
      ...{ kind: 'refused', slug, isFailure, guesses: of },
    });
    if (right === undefined) return unproved('sign_in_busy', false, [...guesses.values()].flat());
    const users = trier.users.filter(({ _id, password = '' }) => guesses.has(_id) && right.has(password));
    const own = users.flatMap(({ _id }) => guesses.get(_id) ?? []);
    const [user, another] = users;
    if (user === undefined) return unproved('sign_in_failed', true);
    if (another !== undefined) {
      return { kind: 'refused', slug: 'account_needed', isFailure: false, guesses: own, users };
    }
    const factor = await this.#factorOf(user, shown);
    if ('slug' in factor) return unproved(factor.slug, factor.slug === 'second_factor_wrong', own);
    return { kind: 'good', user, factor: factor.shown, guesses: own };
  }

  async #factorOf(
    user: UserDocument,
    { code, recovery_code }: Shown,
  ): Promise<{ readonly shown: SessionDocument['factor'] } | { readonly slug: RefusalSlug }> {
    if (user.totp === undefined) return { shown: undefined };
    const withApp = { ...user, totp: user.totp };
    const seed = code === undefined ? undefined : this.#seedOf(withApp);
    if (code !== undefined && seed !== undefined && (await this.#isCode(withApp, seed, code))) return { shown: 'totp' };
    if (recovery_code !== undefined && (await this.#isRecoveryCode(user, recovery_code))) {
      return { shown: 'recovery_code' };
    }
    if (code === undefined && recovery_code === undefined) return { slug: 'second_factor_missing' };
    if (code !== undefined && seed === undefined) return { slug: 'second_factor_unreadable' };
    return { slug: 'second_factor_wrong' };
  }

  /** Undefined when it was stored with another secret key, which only an operator can restore. */
  #seedOf({ _id, totp }: WithApp): string | undefined {
    const { box, log } = this.#deps;
    try {
      return box.open(totp.seed, ['users', _id, 'totp.seed']);
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

export function refusalOf(slug: RefusalSlug | 'password_wrong', more: ProblemAnswer = {}): Refused {
  return refused(slug, slug === 'sign_in_busy' ? BUSY : more);
}

const BUSY = { headers: ['Retry-After', '1'] } as const;

export const proofsOf = perProcess((gateway) => {
  const attempts = new Attempts(gateway.db, gateway.clock, gateway.counter);
  const passwords = new Passwords(new HashQueue(gateway.clock));
  return { attempts, passwords, factors: new Factors({ ...gateway, attempts, passwords }) };
});

/** The steps before and after count too, because clocks of phones differ (RFC 6238 §5.2). */
const TOLERANCE_S = 30;
const CODE = /^\d{6}$/;

/** A new seed, also in the two forms that authenticator apps take. */
export async function newSeed(
  username: string,
): Promise<{ readonly seed: string; readonly uri: string; readonly qrSvg: string }> {
  const seed = generateSecret();
  const uri = generateURI({ issuer: 'Harkara', label: username, secret: seed });
  return { seed, uri, qrSvg: await qrcode.toString(uri, { type: 'svg', margin: 2 }) };
}

/** The time step of a right code later than `after`; undefined when it is wrong or used. */
export async function stepOf(seed: string, code: string, now: Date, after: number): Promise<number | undefined> {
  const token = code.replaceAll(/\s/g, '');
  // The library throws at codes of another form.
  if (!CODE.test(token)) return undefined;
  const epoch = Math.floor(now.getTime() / 1000);
  const found = await verify({ secret: seed, token, epoch, epochTolerance: TOLERANCE_S, afterTimeStep: after });
  return found.valid && 'timeStep' in found ? found.timeStep : undefined;
}

const CODES = 10;
/** 120 bits: enough that a plain hash protects the code (ASVS 5.0, 6.5.2). No letters that look like digits. */
const CHARACTERS = 24;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

interface RecoveryCodes {
  readonly codes: readonly string[];
  readonly hashes: readonly string[];
}

export function newRecoveryCodes(): RecoveryCodes {
  const codes = Array.from({ length: CODES }, newCode);
  return { codes, hashes: codes.map(hashRecoveryCode) };
}

/** Upper case, blanks and hyphens make no difference. */
function hashRecoveryCode(code: string): string {
  return hash('sha256', code.toLowerCase().replaceAll(/[\s-]/g, ''), 'hex');
}

function newCode(): string {
  const text = [...randomBytes(CHARACTERS)].map((byte) => ALPHABET.charAt(byte & 31)).join('');
  return text.replaceAll(/(.{4})(?=.)/g, '$1-');
}
