import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { hashSecret, REQUESTS_PER_MINUTE, secretMatches } from '../../shared/people/keys/key.ts';
import {
  endOldestSessions,
  endSession,
  endSessions,
  findSession,
  findUser,
  insertSession,
  touchSession,
} from '../../shared/people/users/store.ts';
import { isOperatorRole, type SessionDocument, type UserDocument } from '../../shared/people/users/user.ts';
import { isSessionId, newId, type SessionId } from '../../shared/platform/runtime/ids.ts';
import type { CallerAddress } from '../http/caller-address.ts';
import type { Requester, SignedIn } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';
import type { ProblemSlug } from '../http/problem.ts';
import type { ReadAccount } from './account.ts';
import { ROLE_PERMISSIONS } from './scopes.ts';

const SEEN_EVERY_MS = 60_000;
const SECRET_BYTES = 32;
const AGENT_CHARACTERS = 200;
/** More browsers than anybody uses. Beyond this the oldest session ends, so a sign-in loop ends its own. */
const SESSIONS_MAX = 20;

/** The second factor that the user has shown, and when the password was shown (by default now). */
interface Shown {
  readonly factor: SessionDocument['factor'] | undefined;
  readonly confirmedAt?: Date;
}

interface Begun {
  readonly session: SessionDocument;
  readonly cookie: CookieText;
}

/**
 * The sessions of signed-in browsers. Every request reads session and user, so a changed role, a disabled user and an
 * ended session count at once on every gateway (decision 26).
 */
export class Sessions {
  readonly cookie: SessionCookie;
  readonly #deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>;
  readonly #addressOf: CallerAddress;
  readonly #readAccount: ReadAccount;

  constructor(
    deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>,
    { addressOf, readAccount }: { readonly addressOf: CallerAddress; readonly readAccount: ReadAccount },
  ) {
    this.#deps = deps;
    this.#addressOf = addressOf;
    this.#readAccount = readAccount;
    this.cookie = new SessionCookie(deps.config.publicUrl);
  }

  /** Begins a session. The cookie's text is stored nowhere. A user with too many sessions loses the oldest. */
  async begin(req: IncomingMessage, user: UserDocument, { factor, confirmedAt }: Shown): Promise<Begun> {
    const now = this.#deps.clock.now();
    const secret = randomBytes(SECRET_BYTES).toString('hex');
    const agent = req.headers['user-agent']?.slice(0, AGENT_CHARACTERS);
    const session: SessionDocument = {
      _id: newId('ses', now.getTime()),
      secretHash: hashSecret(secret).toString('hex'),
      user: user._id,
      epoch: user.epoch,
      ...(factor && { factor }),
      confirmedAt: confirmedAt ?? now,
      madeAt: now,
      seenAt: now,
      address: this.#addressOf(req),
      ...(agent && { agent }),
      expiresAt: new Date(now.getTime() + absoluteMs(user)),
    };
    await insertSession(this.#deps.db, session);
    await endOldestSessions(this.#deps.db, user._id, SESSIONS_MAX);
    return { session, cookie: { id: session._id, secret } };
  }

  /** Ends all sessions of the user and begins a new one. `user` is as it is after the change. */
  async renew(req: IncomingMessage, user: UserDocument, shown: Shown): Promise<Begun> {
    await endSessions(this.#deps.db, user._id);
    return this.begin(req, user, shown);
  }

  async find(req: IncomingMessage): Promise<SignedIn | ProblemSlug> {
    const text = this.cookie.read(req);
    if (text === undefined) return 'key_missing';
    const given = parseCookie(text);
    const session = given && (await findSession(this.#deps.db, given.id));
    if (session === undefined || !secretMatches(given?.secret ?? '', Buffer.from(session.secretHash, 'hex'))) {
      return 'session_ended';
    }
    return (await this.#alive(session)) ?? 'session_ended';
  }

  /**
   * Who makes the request, by its cookie. A change must come from our own pages. All tabs share one cookie, so a page
   * also names its user: a tab left open by one user must not act for another.
   */
  async identify(req: IncomingMessage): Promise<Requester | ProblemSlug> {
    const found = await this.find(req);
    if (typeof found === 'string') return found;
    if (!isSameOrigin(req, this.#deps.config.publicUrl)) return 'origin_refused';
    const { session, user, account } = found;
    if ((req.headers['x-dashboard-user'] ?? user._id) !== user._id) return 'other_user';
    if (!isAutomatic(req)) await this.#see(session);
    const incomplete = isIncomplete(found);
    const confirmed = isConfirmed(session, this.#deps.clock.now());
    const { _id: id, username: name, role } = user;
    return {
      who: { kind: 'user', id, name, role, session: session._id, incomplete, confirmed },
      account,
      address: this.#addressOf(req),
      perMinute: REQUESTS_PER_MINUTE,
      makers: [],
      caps: [],
      scopes: incomplete ? [] : ROLE_PERMISSIONS[role],
      signedIn: found,
    };
  }

  /** What the user of a session may do now, for an open stream. Does not count as a request. */
  async scopesOf(id: SessionId): Promise<Pick<Requester, 'scopes'> | ProblemSlug> {
    const session = await findSession(this.#deps.db, id);
    const found = session && (await this.#alive(session));
    if (found === undefined || isIncomplete(found)) return 'session_ended';
    return { scopes: ROLE_PERMISSIONS[found.user.role] };
  }

  async end({ user, _id }: SessionDocument): Promise<void> {
    await endSession(this.#deps.db, user, _id);
  }

  async #alive(session: SessionDocument): Promise<SignedIn | undefined> {
    const user = await findUser(this.#deps.db, session.user);
    if (user === undefined || isOver(session, user, this.#deps.clock.now())) return undefined;
    const account = user.account && (await this.#readAccount(user.account));
    return user.account !== undefined && account === undefined ? undefined : { session, user, account };
  }

  async #see({ _id, seenAt }: SessionDocument): Promise<void> {
    const now = this.#deps.clock.now();
    if (now.getTime() - seenAt.getTime() >= SEEN_EVERY_MS) await touchSession(this.#deps.db, _id, now);
  }
}

/** Requests that a page makes by itself, to show what is new, do not keep its session alive. */
function isAutomatic({ headers }: IncomingMessage): boolean {
  return headers['x-dashboard-auto'] === '1' || headers.accept === 'text/event-stream';
}

function isIncomplete({ session, user, account }: SignedIn): boolean {
  return session.factor === undefined && needsSecondFactor(user, account);
}

/** Whether the user can do nothing until a second factor is set up (ASVS 5.0, 6.3.3). */
export function needsSecondFactor(
  { role }: Pick<UserDocument, 'role'>,
  account: Pick<AccountDocument, 'secondFactor'> | undefined,
): boolean {
  if (account?.secondFactor === 'exempt') return false;
  return isOperatorRole(role) || role === 'owner' || account?.secondFactor === 'required';
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/**
 * Whether a change comes from our own pages and not from another site in the same browser. Only for requests that a
 * cookie authenticates (OWASP CSRF Prevention Cheat Sheet, "Fetch Metadata headers"). Browsers send Sec-Fetch-Site over
 * TLS and to localhost; otherwise Origin decides. It is compared with the public address or with the address that the
 * connection came in at, never with `Host`, which the caller writes.
 */
export function isSameOrigin({ method = '', headers, socket }: IncomingMessage, publicUrl: string): boolean {
  if (READS.has(method)) return true;
  // No form can send this header, and a script of another site needs our CORS permission, which nobody gets.
  if (headers['x-dashboard'] !== '1') return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  if (origin === undefined) return false;
  if (publicUrl !== '') return origin === new URL(publicUrl).origin;
  const { localAddress = '', localPort } = socket;
  const scheme = (socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http';
  const hosts = LOOPBACK.test(localAddress) ? ['127.0.0.1', 'localhost', '[::1]'] : [hostOf(localAddress)];
  return hosts.some((host) => origin === `${scheme}://${host}:${localPort}`);
}

function hostOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}

export const IDLE_MS = 30 * 60_000;
const ABSOLUTE_MS = 12 * 3_600_000;
const OPERATOR_ABSOLUTE_MS = 4 * 3_600_000;

/** For this long after the password was shown, a session may make changes that would outlive it. */
export const CONFIRMED_MS = 10 * 60_000;

export function isConfirmed({ confirmedAt }: SessionDocument, now: Date): boolean {
  return now.getTime() < confirmedAt.getTime() + CONFIRMED_MS;
}

export function absoluteMs({ role }: Pick<UserDocument, 'role'>): number {
  return isOperatorRole(role) ? OPERATOR_ABSOLUTE_MS : ABSOLUTE_MS;
}

export function isOver(session: SessionDocument, user: UserDocument, now: Date): boolean {
  const ends = Math.min(session.expiresAt.getTime(), session.madeAt.getTime() + absoluteMs(user));
  return (
    user.status !== 'active' ||
    session.epoch !== user.epoch ||
    now.getTime() >= ends ||
    now.getTime() >= session.seenAt.getTime() + IDLE_MS
  );
}

interface CookieText {
  readonly id: SessionId;
  readonly secret: string;
}

/**
 * The session's cookie. Behind TLS its name begins with `__Host-`: browsers accept that only over TLS and for this
 * host, so no neighbouring host can plant one (RFC 6265bis §4.1.3). Over plain HTTP they refuse the prefix.
 */
export class SessionCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor(publicUrl: string) {
    const secure = publicUrl.startsWith('https:');
    this.#name = secure ? '__Host-harkara' : 'harkara';
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  read(req: IncomingMessage): string | undefined {
    return cookieOf(req, this.#name);
  }

  /** No `Max-Age`: the cookie ends with the browser. The server ends the session earlier. */
  write({ id, secret }: CookieText): readonly string[] {
    return ['Set-Cookie', `${this.#name}=${id}.${secret}; ${this.#attributes}`];
  }

  erase(): readonly string[] {
    return ['Set-Cookie', `${this.#name}=; ${this.#attributes}; Max-Age=0`];
  }
}

export function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  const start = `${name}=`;
  if (headers.cookie?.includes(start) !== true) return undefined;
  const found = headers.cookie.split(';').find((pair) => pair.trimStart().startsWith(start));
  return found?.trim().slice(start.length);
}

function parseCookie(text: string): CookieText | undefined {
  const [, id, secret] = /^([^.]+)\.([0-9a-f]{64})$/.exec(text) ?? [];
  return id !== undefined && secret !== undefined && isSessionId(id) ? { id, secret } : undefined;
}
