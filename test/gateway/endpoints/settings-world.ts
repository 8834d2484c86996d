import request from 'supertest';
import type { GatewayDeps } from '../../../gateway/http/deps.ts';
import type { AuditDocument } from '../../../shared/people/audit.ts';
import type { KeyScope } from '../../../shared/people/keys/key.ts';
import type { Role } from '../../../shared/people/users/user.ts';
import { accountAtGateway } from '../../support/account-gateway.ts';
import { makeKey } from '../../support/gateway.ts';
import { signedIn } from '../../support/signed-in.ts';

type Method = 'get' | 'post' | 'patch' | 'delete';
type Headers = Readonly<Record<string, string>>;

/** An account at a gateway, with users and keys that change its settings. For the body of a `describe`. */
export function settingsWorld(config: Partial<GatewayDeps['config']> = {}) {
  const site = accountAtGateway(10, config);
  let manager: Headers = {};
  beforeEach(async () => {
    manager = await keyWith(['send', 'read', 'otp', 'manage']);
  });

  async function keyWith(scopes: readonly KeyScope[], account = site.account): Promise<Headers> {
    return { Authorization: `Bearer ${await makeKey(site.db, account, scopes)}` };
  }

  return {
    site,
    keyWith,
    roleOf: async (role: Role): Promise<Headers> => (await signedIn(site.db, role, site.account)).headers,
    ask: (method: Method, path: string, body?: object, headers: Headers = manager): request.Test => {
      const client = request(site.url);
      const asked = client[method](path).set(headers);
      return body === undefined ? asked : asked.send(body);
    },
    /** The account's stored audit, newest first. */
    audit: () => site.db.collection<AuditDocument>('audit').find({ account: site.account }).sort({ _id: -1 }).toArray(),
  };
}
