import { type Bounds, boundsOf } from '../../../shared/people/keys/bounds.ts';
import { type KeyDocument, REQUESTS_PER_MINUTE } from '../../../shared/people/keys/key.ts';
import { findOwnKey, insertKey, MakerChanged } from '../../../shared/people/keys/store.ts';
import { AllPlacesTaken } from '../../../shared/platform/mongo/places.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Caller, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { optional, required } from '../../http/fields/field.ts';
import { type Given, readRequest, request, whole } from '../../http/fields/request.ts';
import { laterTime } from '../../http/fields/times.ts';
import type { Accepted, Action, Problem, Refused } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { beyondCaller, checkBounds, checkRate, isProblem, lackingScopes, reachOf, tooFarDown } from './authority.ts';
import { allowedIps, name, perMinute, scopes } from './key-fields.ts';
import { keyRecord } from './key-record.ts';
import { newSealedText, openText, type SealedText } from './sealed-text.ts';

export const CREATE_KEY = request({
  name: required(name),
  scopes: required(scopes),
  expires_at: optional(
    laterTime('When it stops working, not after the key that makes it. Without it: when that one does, else never.'),
  ),
  per_minute: optional(perMinute),
  allowed_ips: optional(allowedIps),
});

export type KeyDeps = Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'box'>;

/** POST /v2/account/keys (extension): makes a key. Its text is in this answer only. */
export function createKeyCreation(deps: KeyDeps): Action<SealedText> {
  const { db, clock, config } = deps;
  return {
    name: 'create-key',
    newId: (account) => newSealedText(deps, account),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const account = caller.account._id;
      const reach = await reachOf(deps, caller);
      if (isProblem(reach)) return { kind: 'refused', problem: reach };
      const far = tooFarDown(reach);
      if (far !== undefined) return { kind: 'refused', problem: far };
      const read = await readRequest(CREATE_KEY, bodyOf(res), { account: caller.account, now: clock.now(), config });
      const wanted = boundsWanted(read.given, reach.bounds);
      checkBounds({ ...wanted, scopes: [] }, reach.bounds, 'the key that asks', read.problems);
      await checkRate(deps, caller, { wanted: read.given.per_minute }, read.problems);
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const lacking = wanted.scopes.filter((scope) => !reach.bounds.scopes.includes(scope));
      if (lacking.length > 0) return { kind: 'refused', problem: lackingScopes(lacking) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const text = openText(deps, account, id);
      const made = await changeAudited(deps, caller, {
        action: 'key.create',
        subject: { kind: 'key', id: text.id },
        read: async () => undefined,
        make: () => insertKey(db, clock, { account, name: whole(read).name, ...wanted, maker: reach.maker }, text),
        madeOf: (key) => key,
        isRefusal: isNotMade,
      }).catch(notMade);
      return 'kind' in made ? made : createdAnswer(deps, made, text.text);
    },
    async recover(account, id) {
      const text = openText(deps, account, id);
      const made = await findOwnKey(db, account, text.id);
      return made && createdAnswer(deps, made, text.text);
    },
    refuseReplay: (res, id) => refuseText(deps, callerOf(res), id),
  };
}

/** What is asked for. What is left out is as far as the maker reaches, and a rate at most the usual one. */
function boundsWanted(
  { scopes = [], expires_at, per_minute, allowed_ips }: Given<(typeof CREATE_KEY)['fields']>,
  maker: Bounds,
): Bounds {
  const { perMinute: most = REQUESTS_PER_MINUTE } = maker;
  const addresses = allowed_ips === undefined ? maker.allowedIps : [...new Set(allowed_ips)];
  return {
    scopes: [...new Set(scopes)],
    expiresAt: expires_at ?? maker.expiresAt,
    perMinute: per_minute ?? (most < REQUESTS_PER_MINUTE ? most : undefined),
    allowedIps: addresses?.length === 0 ? undefined : addresses,
  };
}

/** A repeated request gets the key's text again. So its caller must reach as far as the key, like whoever made it. */
export async function refuseText(deps: KeyDeps, caller: Caller, id: SealedText): Promise<Problem | undefined> {
  const account = caller.account._id;
  const made = await findOwnKey(deps.db, account, openText(deps, account, id).id);
  if (made === undefined) return ['key_not_found', {}];
  const reach = await reachOf(deps, caller);
  return isProblem(reach) ? reach : beyondCaller(boundsOf(made), reach.bounds);
}

/** Stored encrypted, because it has the key's text. */
export async function createdAnswer(deps: KeyDeps, made: KeyDocument, key: string): Promise<Accepted> {
  return { kind: 'accepted', sealed: true, body: { status: 'success', key, ...(await keyRecord(deps, made)) } };
}

/** For `changeAudited`: no key was made. */
export function isNotMade(error: unknown): boolean {
  return error instanceof AllPlacesTaken || error instanceof MakerChanged;
}

/** For the `catch` of a key's making. */
export function notMade(error: unknown): Refused {
  if (error instanceof AllPlacesTaken) return { kind: 'refused', problem: ['too_many_keys', {}] };
  if (error instanceof MakerChanged) return { kind: 'refused', problem: ['key_changed', {}] };
  throw error;
}
