import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { hashToken } from '../../shared/users/link.ts';
import { endSessions } from '../../shared/users/session-store.ts';
import { findUserByLink } from '../../shared/users/store.ts';
import type { UserDocument } from '../../shared/users/user.ts';
import type { ReadAccount } from '../access/read-account.ts';
import { Fault, required, string } from '../fields/field.ts';
import { readRequest, request, whole } from '../fields/request.ts';
import { sendJson, sendProblem } from '../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../http/caller-address.ts';
import { bodyOf, type Handler, type Reply } from '../http/context.ts';
import { invalidRequest } from '../http/fields.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Attempts } from './attempts.ts';
import { spendLink } from './own-store.ts';
import { newPassword, refuseCommon } from './password-rules.ts';
import { hashPassword } from './passwords.ts';
import { isSameOrigin } from './same-origin.ts';

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
    const { db, clock, config } = this.#deps;
    if (!isSameOrigin(req, config.publicUrl)) return sendProblem(res, 'origin_refused');
    const read = await readRequest(LOOK_AT_LINK, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const user = await this.#limited(req, res, () => findUserByLink(db, hashToken(whole(read).token), clock.now()));
    const { link } = user ?? {};
    if (user === undefined || link === undefined) return;
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
    const found = await this.#limited(req, res, () => findUserByLink(db, hashed, clock.now()));
    if (found === undefined || (await refuseCommon(res, password, [found.username, found.name]))) return;
    const stored = await hashPassword(password);
    if (stored === undefined) return sendProblem(res, 'sign_in_busy', { headers: ['Retry-After', '1'] });
    const user = await spendLink(db, hashed, stored, clock.now());
    if (user === undefined) return sendProblem(res, 'link_invalid');
    await endSessions(db, user._id);
    await this.#parts.attempts.forgetName(user.username, user.networks ?? []);
    const address = this.#parts.addressOf(req);
    log.info('password_set', { user_id: user._id, address, request_id: res.locals.requestId });
    sendJson(res, {
      status: 'success',
      username: user.username,
      message: 'The password is set. Sign in with it.',
    });
  };

  /** Links that are none are limited per address, as wrong passwords are. Answers when there is no user. */
  async #limited(
    req: Parameters<Handler>[0],
    res: Reply,
    find: () => Promise<UserDocument | undefined>,
  ): Promise<UserDocument | undefined> {
    const { attempts, addressOf } = this.#parts;
    const attempt = await attempts.begin({ network: callerNetwork(addressOf(req)) });
    if (attempt.kind === 'wait') {
      sendProblem(res, 'sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
      return undefined;
    }
    const user = await find();
    if (user === undefined) sendProblem(res, 'link_invalid');
    else await attempts.takeBack(attempt.taken);
    return user;
  }
}
