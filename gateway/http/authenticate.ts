import { findAccount } from '../../shared/accounts/store.ts';
import type { KeyDocument, KeyScope } from '../../shared/keys/key.ts';
import { type KeyText, parseKey, secretMatches } from '../../shared/keys/key-secret.ts';
import { findKey } from '../../shared/keys/store.ts';
import type { GatewayDeps } from '../deps.ts';
import { ReadCache } from '../read-cache.ts';
import { sendProblem } from './answer.ts';
import type { Caller, Handler, Reply } from './context.ts';
import type { ProblemSlug } from './problem.ts';

/** Keys, and made-up key ids, that one process remembers. */
const REMEMBERED_KEYS = 20_000;

interface KnownKey extends Caller {
  readonly secretHash: Uint8Array;
  readonly status: KeyDocument['status'];
  readonly expiresMs: number;
}

/**
 * "Authentication": every endpoint asks for a key with a scope. The result makes the route's first handler. A key is read
 * once per `KEY_CACHE_MS` and process, with its account; a key whose account is gone is no key.
 */
export function createAuthenticate({
  db,
  clock,
  config,
}: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): (scope: KeyScope) => Handler {
  const keys = new ReadCache<string, KnownKey>({
    ttlMs: config.keyCacheMs,
    maxEntries: REMEMBERED_KEYS,
    clock,
    nameOf: (id) => id,
    read: async (id) => {
      const key = await findKey(db, id);
      if (key === undefined) return undefined;
      const account = await findAccount(db, key.account);
      if (account === undefined) return undefined;
      return {
        account: { _id: account._id, senders: account.senders },
        keyId: id,
        scopes: key.scopes,
        secretHash: key.secretHash.value(),
        status: key.status,
        expiresMs: key.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
      };
    },
  });

  return (scope) => async (req, res: Reply, next) => {
    const presented = bearerKey(req.headers.authorization);
    if (presented === 'missing') return unauthorized(res, 'key_missing');
    if (presented === 'malformed') return unauthorized(res, 'key_invalid');
    const key = await keys.get(presented.id);
    if (key === undefined || !secretMatches(presented.secret, key.secretHash)) return unauthorized(res, 'key_invalid');
    // From here on the caller is the owner of the key, so the reason helps nobody else.
    if (key.status !== 'active') return unauthorized(res, 'key_revoked');
    if (key.expiresMs <= clock.now().getTime()) return unauthorized(res, 'key_expired');
    res.locals.caller = key;
    if (key.scopes.includes(scope)) return next();
    sendProblem(res, 'scope_missing', { detail: `This key may not do that: it lacks the scope "${scope}".` });
  };
}

function bearerKey(header: string | undefined): KeyText | 'missing' | 'malformed' {
  const [, token] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
  if (token === undefined) return 'missing';
  return parseKey(token) ?? 'malformed';
}

/** RFC 9110 §11.6.1: a 401 names the scheme. */
function unauthorized(res: Reply, slug: ProblemSlug): void {
  sendProblem(res, slug, { headers: ['WWW-Authenticate', 'Bearer realm="harkara"'] });
}
