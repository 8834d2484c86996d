import { hashToken } from '../../../shared/people/users/link.ts';
import { endSessions } from '../../../shared/people/users/session-store.ts';
import { findUserByLink } from '../../../shared/people/users/store.ts';
import type { OneTimeLink, UserDocument } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { ReadAccount } from '../../access/read-account.ts';
import { isSameOrigin } from '../../access/same-origin.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../../http/caller-address.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { Fault, required, string } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { Attempts } from './attempts.ts';
import { BUSY } from './factors.ts';
import type { Lane } from './hash-queue.ts';
import { noteNetwork, passwordLike, spendLink } from './own-store.ts';
import { newPassword, refuseCommon } from './password-rules.ts';
import type { Passwords } from './passwords.ts';

const TOKEN = /^[\w-]{43}$/;
const token = required(
  string({ description: 'What stands behind `#` in the link.', pattern: TOKEN.source }, (text) =>
    TOKEN.test(text) ? text : new Fault('invalid_value', 'It must be the 43 characters behind `#` in the link.'),
  ),
);

export const LOOK_AT_LINK = request({ token });
export const USE_LINK = request({ token, password: newPassword });

interface LinkParts {
  readonly readAccount: ReadAccount;
  readonly addressOf: CallerAddress;
  readonly attempts: Attempts;
  readonly passwords: Passwords;
}

/** One-time links, with which users set a password. A link is spent only by the POST that sets it: previews spend nothing. */
export class Links {
  readonly #deps: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'log'>;
  readonly #parts: LinkParts;

  constructor(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'log'>, parts: LinkParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** POST /v2/session/link (extension): whose link it is, and what for. */
  readonly look: Handler = async (req, res: Reply) => {
    const { clock, config } = this.#deps;
    if (!isSameOrigin(req, config.publicUrl)) return sendProblem(res, 'origin_refused');
    const read = await readRequest(LOOK_AT_LINK, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const found = await this.#limited(req, res, hashToken(whole(read).token));
    if (found === undefined) return;
    const { user, link } = found;
    const account = user.account && (await this.#parts.readAccount(user.account));
    sendJson(res, {
      ...{ username: user.username, name: user.name ?? null, role: user.role, purpose: link.purpose },
      account: account === undefined ? null : { account_id: account._id, name: account.name },
      expires_at: isoTimestamp(link.expiresAt),
    });
  };

  /** POST /v2/session/link/password (extension): sets the password. All sessions end, and the user signs in. */
  readonly use: Handler = async (req, res: Reply) => {
    const { db, clock, config, log } = this.#deps;
    if (!isSameOrigin(req, config.publicUrl)) return sendProblem(res, 'origin_refused');
    const read = await readRequest(USE_LINK, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { token, password } = whole(read);
    const hashed = hashToken(token);
    const found = await this.#limited(req, res, hashed);
    if (found === undefined || (await refuseCommon(res, password, [found.user.username, found.user.name]))) return;
    const { passwords, attempts, addressOf } = this.#parts;
    const stored = await passwords.hash(found.lane, password, await passwordLike(db, found.user.username));
    if (stored === undefined) return sendProblem(res, 'sign_in_busy', BUSY);
    const user = await spendLink(db, hashed, stored, clock.now());
    if (user === undefined) return sendProblem(res, 'link_invalid');
    await endSessions(db, user._id);
    await attempts.forgetUser(user);
    const address = addressOf(req);
    // The user signs in next, from there.
    await noteNetwork(db, user._id, callerNetwork(address));
    log.info('password_set', { user_id: user._id, address, request_id: res.locals.requestId });
    sendJson(res, {
      status: 'success',
      username: user.username,
      message: 'The password is set. Sign in with it.',
    });
  };

  /** Attempts are counted as at sign-in, and links that are none as wrong passwords. Answers when there is no user. */
  async #limited(
    req: Parameters<Handler>[0],
    res: Reply,
    hashed: string,
  ): Promise<{ readonly user: UserDocument; readonly link: OneTimeLink; readonly lane: Lane } | undefined> {
    const { attempts, addressOf } = this.#parts;
    const user = await findUserByLink(this.#deps.db, hashed, this.#deps.clock.now());
    const users = user === undefined ? [] : [user];
    const attempt = await attempts.begin({
      network: callerNetwork(addressOf(req)),
      users,
      isProved: user !== undefined,
    });
    if (attempt.kind === 'wait') {
      sendProblem(res, 'sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
      return undefined;
    }
    if (user?.link !== undefined) return { user, link: user.link, lane: attempt.lane };
    sendProblem(res, 'link_invalid');
    return undefined;
  }
}
