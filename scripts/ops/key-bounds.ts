import type { Db } from 'mongodb';
import { type Bounds, boundsOf, excess, TEST_KEY_BOUNDS } from '../../shared/people/keys/bounds.ts';
import { makerKey } from '../../shared/people/keys/descendants.ts';
import { type KeyDocument, OPERATOR_KEY_DAYS_MAX } from '../../shared/people/keys/key.ts';
import type { KeyChange } from '../../shared/people/keys/store.ts';
import { Failure } from './command.ts';

export const OPERATOR_KEY =
  'A key of operators has scopes of operators alone and no account. It always has --expires-at, at most 400 days ahead, and --allow-ip, with subnets of /8 or smaller.';

const DAY_MS = 24 * 3_600_000;

/** Larger subnets are no place of one's own: two of /1 are all addresses. */
const PREFIX_MIN = 8;

/** A key of operators reaches all accounts: a stolen one must end, and serve nobody elsewhere. */
export function checkOperatorKey(
  { expiresAt, allowedIps = [] }: Pick<Bounds, 'expiresAt' | 'allowedIps'>,
  now: Date,
): void {
  const last = new Date(now.getTime() + OPERATOR_KEY_DAYS_MAX * DAY_MS);
  if (expiresAt === undefined) throw new Failure(`--expires-at is missing. ${OPERATOR_KEY}`);
  if (expiresAt > last) throw new Failure(`--expires-at may be at most ${last.toISOString()}. ${OPERATOR_KEY}`);
  if (allowedIps.length === 0) throw new Failure(`--allow-ip is missing. ${OPERATOR_KEY}`);
  if (allowedIps.some((subnet) => Number(subnet.split('/')[1] ?? PREFIX_MIN) < PREFIX_MIN)) {
    throw new Failure(`--allow-ip must have no subnet larger than /${PREFIX_MIN}. ${OPERATOR_KEY}`);
  }
}

/** Throws if a test key may not have these. */
export function checkTestKey({ scopes, perMinute }: Pick<Bounds, 'scopes' | 'perMinute'>): void {
  if (excess({ scopes, perMinute }, TEST_KEY_BOUNDS).length === 0) return;
  throw new Failure(
    `A test key may have the scopes ${TEST_KEY_BOUNDS.scopes.join(', ')} and ${TEST_KEY_BOUNDS.perMinute} requests a minute at most.`,
  );
}

/** A key reaches no farther than the one that made it, whoever changes it. */
export async function checkMaker(db: Db, key: KeyDocument, { allowedIps, ...change }: KeyChange): Promise<void> {
  const maker = await makerKey(db, key);
  if (maker === undefined) return;
  const bound = boundsOf(maker);
  const addresses = allowedIps === undefined ? {} : { allowedIps: allowedIps.length === 0 ? undefined : allowedIps };
  const beyond = excess({ ...bound, ...change, ...addresses }, bound);
  if (beyond.length === 0) return;
  const options = {
    scopes: '--scopes',
    expiresAt: '--expires-at',
    perMinute: '--per-minute',
    allowedIps: '--allow-ip',
  };
  throw new Failure(
    `${beyond.map((field) => options[field]).join(' and ')} would reach farther than ${maker._id}, which made the key. \`key show ${maker._id}\` tells how far that is: change that one first, or create another key.`,
  );
}
