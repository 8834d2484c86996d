import type { Request } from 'express';
import { findAccounts } from '../../shared/accounts/store.ts';
import { type KeyDocument, type KeyScope, REQUESTS_PER_MINUTE } from '../../shared/keys/key.ts';
import { type KeyText, parseKey, secretMatches } from '../../shared/keys/key-secret.ts';
import { findKeys } from '../../shared/keys/store.ts';
import { FreshCache } from '../../shared/runtime/fresh-cache.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { inSubnets, parseSubnet, type Subnet } from '../../shared/webhooks/public-address.ts';
import { type ProblemAnswer, sendProblem } from '../http/answer.ts';
import type { CallerAddress } from '../http/caller-address.ts';
import { type Caller, callerOf, type Handler, type Reply } from '../http/context.ts';
import type { ProblemSlug } from '../http/problem.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Unauthorized } from './unauthorized.ts';

/** How many keys, and key ids that do not exist, one process remembers. */
const REMEMBERED_KEYS = 20_000;

interface KnownKey extends Omit<Caller, 'account' | 'address'> {
  readonly account: AccountId;
  readonly secretHash: Uint8Array;
  readonly status: KeyDocument['status'];
  readonly expiresMs: number;
  /** The subnets that the key may be used from. Undefined when it may be used from everywhere. */
  readonly allowed: readonly Subnet[] | undefined;
}

/** Finds the caller of a request with a good key; otherwise returns the problem. Rejects with the store's error. */
export type Identify = (req: Request) => Promise<Caller | ProblemSlug>;

/**
 * "Authentication". A process reads a key at most once per `KEY_CACHE_MS`, together with its account. Keys in use are
 * refreshed together, in the background. A key without an account is invalid. A key that is limited to addresses is
 * refused elsewhere before it is counted, so that a thief can neither use it nor use up its requests.
 */
export function createIdentify(
  { db, clock, config, keyUses }: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'keyUses'>,
  addressOf: CallerAddress,
): Identify {
  const keys = new FreshCache<string, KnownKey>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_KEYS,
    clock,
    readMany: async (ids) => new Map((await findKeys(db, ids)).map((key) => [key._id, knownKey(key)])),
  });

  const accounts = new FreshCache<AccountId, Caller['account']>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_KEYS,
    clock,
    readMany: async (ids) => new Map((await findAccounts(db, ids)).map((account) => [account._id, account])),
  });

  return async (req) => {
    const presented = bearerKey(req.headers.authorization);
    if (presented === 'missing') return 'key_missing';
    if (presented === 'malformed') return 'key_invalid';
    const key = await keys.get(presented.id);
    if (key === undefined || !secretMatches(presented.secret, key.secretHash)) return 'key_invalid';
    // From here on the caller has proved to own the key, so telling the reason helps no attacker.
    if (key.status !== 'active') return 'key_revoked';
    if (key.expiresMs <= clock.now().getTime()) return 'key_expired';
    const account = await accounts.get(key.account);
    if (account === undefined) return 'key_invalid';
    const address = addressOf(req);
    if (key.allowed !== undefined && !inSubnets(address, key.allowed)) return 'ip_not_allowed';
    keyUses.note(key.keyId, address);
    return { account, address, keyId: key.keyId, perMinute: key.perMinute, scopes: key.scopes };
  };
}

/** The first handler of every endpoint that needs a key. */
export function createAuthenticate(identify: Identify, unauthorized: Unauthorized): Handler {
  return async (req, res: Reply, next) => {
    const who = await identify(req);
    if (typeof who === 'string') return unauthorized(req, res, who);
    res.locals.caller = who;
    next();
  };
}

function knownKey(key: KeyDocument): KnownKey {
  return {
    account: key.account,
    keyId: key._id,
    perMinute: key.perMinute ?? REQUESTS_PER_MINUTE,
    scopes: key.scopes,
    secretHash: key.secretHash.value(),
    status: key.status,
    expiresMs: key.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    // A subnet that cannot be parsed allows nothing.
    allowed: key.allowedIps?.map(parseSubnet).filter((subnet) => subnet !== undefined),
  };
}

/** Scopes that a key needs together. */
export type ScopeSet = readonly KeyScope[];

/** Comes after `createAuthenticate`. The key must have all scopes of at least one set. */
export function requireScope(...sets: readonly ScopeSet[]): Handler {
  return (_req, res: Reply, next) => {
    const { scopes } = callerOf(res);
    const lacking = sets.map((set) => set.filter((scope) => !scopes.includes(scope)));
    if (lacking.some((missing) => missing.length === 0)) next();
    else sendProblem(res, ...scopeMissing(...lacking));
  };
}

/** `lacking` has the alternatives. Each of them lists the scopes that would have to be added to the key. */
export function scopeMissing(...lacking: readonly ScopeSet[]): readonly [ProblemSlug, ProblemAnswer] {
  const ways = lacking.map((missing) => missing.map((scope) => `"${scope}"`).join(' and '));
  return ['scope_missing', { detail: `This key may not do that: it lacks the scope ${ways.join(', or ')}.` }];
}

function bearerKey(header: string | undefined): KeyText | 'missing' | 'malformed' {
  const [, token] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
  if (token === undefined) return 'missing';
  return parseKey(token) ?? 'malformed';
}
