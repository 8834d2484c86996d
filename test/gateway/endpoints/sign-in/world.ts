import { hash } from '@node-rs/argon2';
import type { Db } from 'mongodb';
import { generate } from 'otplib';
import request from 'supertest';
import type { GatewayDeps } from '../../../../gateway/http/deps.ts';
import { isOperatorRole, type Role, type UserDocument } from '../../../../shared/people/users/user.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import type { Log, LogFields } from '../../../../shared/platform/runtime/log.ts';
import { openGateway, TEST_CONFIG, type TestGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { openTestStore, type TestStore } from '../../../support/store.ts';

/** The dashboard's headers on every request. */
export const OURS = { 'X-Dashboard': '1', 'Sec-Fetch-Site': 'same-origin' } as const;
export const PASSWORD = 'seven purple otters';
/** The authenticator seed of users made by `signedIn`. */
const SEED = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

type Call = request.Test;

/** A gateway with a manual clock, and users who sign in. `X-Forwarded-For` gives their address. */
export class SignInWorld {
  readonly store: TestStore;
  readonly gateway: TestGateway;
  readonly clock: ManualClock;
  /** The log as text. */
  readonly logged: string[];
  readonly account: AccountId;

  static async open(config: Partial<GatewayDeps['config']> = {}): Promise<SignInWorld> {
    const store = await openTestStore();
    const clock = new ManualClock(new Date());
    const logged: string[] = [];
    const note = (event: string, fields?: LogFields) => void logged.push(`${event} ${JSON.stringify(fields)}`);
    const log: Log = { ...silentLog, info: note, warn: note, error: note };
    const gateway = await openGateway(store.db, {
      ...{ clock, log },
      config: { ...TEST_CONFIG, trustProxy: ['127.0.0.0/8'], keyCacheMs: 0, ...config },
    });
    return new SignInWorld({ store, gateway, clock, logged, account: await makeAccount(store.db, 10) });
  }

  private constructor(parts: Pick<SignInWorld, 'store' | 'gateway' | 'clock' | 'logged' | 'account'>) {
    this.store = parts.store;
    this.gateway = parts.gateway;
    this.clock = parts.clock;
    this.logged = parts.logged;
    this.account = parts.account;
  }

  get db(): Db {
    return this.store.db;
  }

  /** A signed-in user with `PASSWORD`, and with a second factor only if `changed` has one. */
  async user(role: Role, changed: Partial<UserDocument> = {}): Promise<Browser> {
    const password = await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    const none = { totp: undefined } as unknown as Partial<UserDocument>;
    const account = isOperatorRole(role) ? undefined : this.account;
    return signedIn(this.db, role, account, { now: this.clock.now(), user: { password, ...none, ...changed } });
  }

  /** The same with an authenticator app as second factor. */
  async userWithApp(role: Role, changed: Partial<UserDocument> = {}): Promise<Browser> {
    const password = await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    const account = isOperatorRole(role) ? undefined : this.account;
    return signedIn(this.db, role, account, { now: this.clock.now(), user: { password, ...changed } });
  }

  call(method: 'get' | 'post' | 'patch' | 'delete', path: string, headers: object = OURS): Call {
    return request(this.gateway.url)
      [method](path)
      .set({ ...headers });
  }

  signIn(body: object, from = '203.0.113.7', headers: object = OURS): Call {
    return this.call('post', '/v2/session', { ...headers, 'X-Forwarded-For': from }).send(body);
  }

  code(ms = 0, seed = SEED): Promise<string> {
    return generate({ secret: seed, epoch: Math.floor((this.clock.now().getTime() + ms) / 1000) });
  }

  async stored(id: UserDocument['_id']): Promise<UserDocument> {
    const user = await this.db.collection<UserDocument>('users').findOne({ _id: id });
    if (user === null) throw new Error(`no user ${id}`);
    return user;
  }

  async forgetFailures(): Promise<void> {
    await this.db.collection('sign_in_failures').deleteMany({});
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await this.store.close();
  }
}

/** As a request sends it back. */
export function cookieOf(answer: request.Response): string {
  return cookiesOf(answer)[0]?.split(';')[0] ?? '';
}

/** The browser's cookies, the session first. */
export function cookiesOf({ headers }: request.Response): readonly string[] {
  return [headers['set-cookie'] ?? []].flat();
}

export function withCookie(cookie: string): Record<string, string> {
  return { ...OURS, Cookie: cookie };
}
