import { type KeyDocument, LIVE_KEYS_MAX } from '../../../shared/keys/key.ts';
import { countLiveKeys, findOwnKey, insertKey } from '../../../shared/keys/store.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { optional, required } from '../../fields/field.ts';
import { readRequest, request, whole } from '../../fields/request.ts';
import { laterTime } from '../../fields/times.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Caller, callerOf } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import type { Accepted, Action, Problem } from '../../idempotency/action.ts';
import { refusedLate } from '../../idempotency/refused-late.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { beyondCaller, checkRate } from './authority.ts';
import { allowedIps, name, perMinute, scopes } from './key-fields.ts';
import { keyRecord } from './key-record.ts';
import { newSealedText, openText, type SealedText } from './sealed-text.ts';

export const CREATE_KEY = request({
  name: required(name),
  scopes: required(scopes),
  expires_at: optional(laterTime('When it stops working. Without it: never.')),
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
      const read = await readRequest(CREATE_KEY, bodyOf(res), { account: caller.account, now: clock.now(), config });
      await checkRate(deps, caller, { wanted: read.given.per_minute }, read.problems);
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const { name, scopes, expires_at, per_minute, allowed_ips = [] } = whole(read);
      const refusal = beyondCaller(caller, scopes) ?? (await refuseMoreKeys(deps, account));
      if (refusal !== undefined) return { kind: 'refused', problem: refusal };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const text = openText(deps, account, id);
      const made = await changeAudited(deps, caller, {
        action: 'key.create',
        subject: { kind: 'key', id: text.id },
        read: async () => undefined,
        make: () =>
          insertKey(
            db,
            clock,
            {
              ...{ account, name, scopes: [...new Set(scopes)], createdBy: creatorOf(caller) },
              ...(expires_at === undefined ? {} : { expiresAt: expires_at }),
              ...(per_minute === undefined ? {} : { perMinute: per_minute }),
              ...(allowed_ips.length === 0 ? {} : { allowedIps: [...new Set(allowed_ips)] }),
            },
            text,
          ),
        madeOf: (key) => key,
        isRefusal: () => false,
      });
      return createdAnswer(deps, made, text.text);
    },
    async recover(account, id) {
      const text = openText(deps, account, id);
      const made = await findOwnKey(db, account, text.id);
      return made && createdAnswer(deps, made, text.text);
    },
    refuseReplay: (res, id) => refuseText(deps, callerOf(res), id),
  };
}

/** A repeated request gets the key's text again. So its caller must have every scope of the key, like whoever made it. */
export async function refuseText(deps: KeyDeps, caller: Caller, id: SealedText): Promise<Problem | undefined> {
  const account = caller.account._id;
  const made = await findOwnKey(deps.db, account, openText(deps, account, id).id);
  return made === undefined ? ['key_not_found', {}] : beyondCaller(caller, made.scopes);
}

/** Stored encrypted, because it has the key's text. */
export async function createdAnswer(deps: KeyDeps, made: KeyDocument, key: string): Promise<Accepted> {
  return { kind: 'accepted', sealed: true, body: { status: 'success', key, ...(await keyRecord(deps, made)) } };
}

/** Stops a program that makes keys in a loop. Requests at the same moment may together pass the limit. */
export async function refuseMoreKeys({ db, clock }: KeyDeps, account: AccountId): Promise<Problem | undefined> {
  const live = await countLiveKeys(db, account, clock.now(), LIVE_KEYS_MAX);
  return live < LIVE_KEYS_MAX ? undefined : ['too_many_keys', {}];
}

export function creatorOf({ who }: Caller): NonNullable<KeyDocument['createdBy']> {
  const { kind, id } = who;
  return { kind, id, ...(who.kind === 'user' ? { name: who.name } : {}) };
}
