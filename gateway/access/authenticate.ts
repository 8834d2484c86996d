import type { Request } from 'express';
import { inSubnets, parseSubnet, type Subnet } from '../../shared/events/webhooks/address-guard.ts';
import type { KeyCaps } from '../../shared/money/ledger/spending.ts';
import {
  isOperatorScope,
  type KeyDocument,
  lineOf,
  parseKey,
  REQUESTS_PER_MINUTE,
  secretMatches,
} from '../../shared/people/keys/key.ts';
import { findKeys } from '../../shared/people/keys/store.ts';
import { FreshCache } from '../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, isUserId } from '../../shared/platform/runtime/ids.ts';
import type { CallerAddress } from '../http/caller-address.ts';
import type { Handler, Reply, Requester } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';
import type { ProblemSlug } from '../http/problem.ts';
import type { ReadAccount } from './account.ts';
import type { Unauthorized } from './rate-limit.ts';

/** How many keys one process remembers, including ids that do not exist. */
const REMEMBERED_KEYS = 20_000;

interface KnownKey extends Pick<KeyDocument, 'scopes' | 'status'> {
  /** Undefined for keys of operators. */
  readonly account: AccountId | undefined;
  readonly keyId: string;
  readonly test: boolean;
  readonly perMinute: number;
  readonly makers: readonly string[];
  readonly caps: KeyCaps | undefined;
  readonly secretHash: Uint8Array;
  readonly expiresMs: number;
  /** The subnets that the key may be used from. Undefined: from everywhere. */
  readonly allowed: readonly Subnet[] | undefined;
}

/** Returns who makes a request, or the problem. Rejects with the store's error. */
export type Identify = (req: Request) => Promise<Requester | ProblemSlug>;

/**
 * "Authentication". A process reads a key and its account at most once per 4 s; keys in use are refreshed together in
 * the background. A key whose account does not exist is invalid. Addresses that a key does not allow are refused before
 * the request is counted, so a thief cannot use up its requests either. Requests without the header `Authorization` go
 * to `identifyUser`.
 */
export function createIdentify(
  { db, clock, config, keyUses }: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'keyUses'>,
  addressOf: CallerAddress,
  readAccount: ReadAccount,
  identifyUser: Identify,
): Identify {
  const keys = new FreshCache<string, KnownKey>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_KEYS,
    clock,
    readMany: async (ids) => new Map((await findKeys(db, ids)).map((key) => [key._id, knownKey(key)])),
  });

  return async (req) => {
    if (req.headers.authorization === undefined) return identifyUser(req);
    const presented = bearerKey(req.headers.authorization);
    if (presented === 'missing') return 'key_missing';
    if (presented === 'malformed') return 'key_invalid';
    const key = await keys.get(presented.id);
    if (key?.test !== presented.test || !secretMatches(presented.secret, key.secretHash)) return 'key_invalid';
    // From here on the caller has proved to have the key, so the reason helps no attacker.
    if (key.status !== 'active') return 'key_revoked';
    if (key.expiresMs <= clock.now().getTime()) return 'key_expired';
    const account = key.account && (await readAccount(key.account));
    if (key.account !== undefined && account === undefined) return 'key_invalid';
    const address = addressOf(req);
    if (key.allowed !== undefined && !inSubnets(address, key.allowed)) return 'ip_not_allowed';
    keyUses.note(key.keyId, address);
    const { keyId, test, perMinute, scopes } = key;
    const known = await Promise.all(key.makers.map((id) => keys.get(id)));
    // A maker that was replaced keeps its old rate, which may be below what its successor and this key were given.
    const makers = known
      .filter((maker) => maker !== undefined)
      .map((maker) => ({ id: maker.keyId, perMinute: Math.max(maker.perMinute, perMinute) }));
    const caps = [key, ...known].flatMap((one) => one?.caps ?? []);
    return {
      who: { kind: 'key', id: keyId, ...(test && { test }) },
      account,
      address,
      perMinute,
      makers,
      scopes,
      caps,
    };
  };
}

/** The first handler of endpoints that need a key or a session. `nobody`: the problem when a request has neither. */
export function createAuthenticate(
  identify: Identify,
  unauthorized: Unauthorized,
  nobody: ProblemSlug = 'key_missing',
): Handler {
  return async (req, res: Reply, next) => {
    const who = await identify(req);
    if (typeof who === 'string') return unauthorized(req, res, who === 'key_missing' ? nobody : who);
    res.locals.caller = who;
    next();
  };
}

function knownKey(key: KeyDocument): KnownKey {
  return {
    account: key.account,
    keyId: key._id,
    test: key.test === true,
    perMinute: key.perMinute ?? REQUESTS_PER_MINUTE,
    makers: (key.makers ?? []).filter((id) => !isUserId(id)),
    caps: key.caps && { key: lineOf(key), ...key.caps },
    // No key reaches both an account and the operators' side, even if the store holds such a key.
    scopes: key.scopes.filter((scope) => isOperatorScope(scope) === (key.account === undefined)),
    secretHash: key.secretHash.value(),
    status: key.status,
    expiresMs: key.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    // A subnet that cannot be parsed allows nothing.
    allowed: key.allowedIps?.map(parseSubnet).filter((subnet) => subnet !== undefined),
  };
}

function bearerKey(header: string): NonNullable<ReturnType<typeof parseKey>> | 'missing' | 'malformed' {
  const [, token] = /^Bearer +(\S+)$/i.exec(header) ?? [];
  if (token === undefined) return 'missing';
  return parseKey(token) ?? 'malformed';
}
