import { boundsOf } from '../../../shared/people/keys/bounds.ts';
import { type KeyDocument, lineOf } from '../../../shared/people/keys/key.ts';
import {
  findOwnKey,
  isOver,
  OVERLAP_MS,
  type Rotation,
  retireReplaced,
  rotateKey,
} from '../../../shared/people/keys/store.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { optional } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { laterTime } from '../../http/fields/times.ts';
import type { Action, Problem, Refused } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { beyondCaller, checkBounds, isProblem, type Reach, reachOf, tooFarDown } from './authority.ts';
import { createdAnswer, isNotMade, type KeyDeps, notMade, refuseText } from './create-key.ts';
import { narrowMade } from './key-changes.ts';
import { newSealedText, openText, type SealedText } from './sealed-text.ts';

const OVERLAP_DAYS_MAX = 7;

export const ROTATE_KEY = request({
  old_expires_at: optional(
    laterTime('When the old key stops working, at most 7 days ahead. Default: in 24 hours.', OVERLAP_DAYS_MAX),
  ),
  expires_at: optional(
    laterTime('When the new key stops working, not after the key that asks. Default: when the old one would have.'),
  ),
});

/**
 * POST /v2/account/keys/{key_id}/rotate (extension): a new key with the settings of the old one, which works a while longer. The
 * new key is stored first. If the gateway dies before the old one gets its end, both work; a repeated request with the same
 * Idempotency-Key completes it.
 */
export function createKeyRotation(deps: KeyDeps): Action<SealedText> {
  const { db, clock, config } = deps;
  return {
    name: 'rotate-key',
    newId: (account) => newSealedText(deps, account),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const old = await findOwnKey(db, caller.account._id, String(res.req.params.key_id));
      if (old === undefined) return { kind: 'refused', problem: ['key_not_found', {}] };
      const reach = await reachOf(deps, caller);
      if (isProblem(reach)) return { kind: 'refused', problem: reach };
      const now = clock.now();
      const read = await readRequest(ROTATE_KEY, bodyOf(res), { account: caller.account, now, config });
      const { expires_at: end } = read.given;
      if (end !== undefined) {
        const { bounds } = reach;
        checkBounds({ ...bounds, expiresAt: end }, bounds, 'the key that asks', read.problems);
      }
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const refusal = refuseRotation(reach, old, now);
      if (refusal !== undefined) return { kind: 'refused', problem: refusal };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { old_expires_at: until = new Date(now.getTime() + OVERLAP_MS), expires_at: expiresAt } = whole(read);
      const made = await rotate(deps, res, old, id, { until, expiresAt, maker: reach.maker });
      if (made === undefined) return { kind: 'refused', problem: ['key_not_active', {}] };
      if ('kind' in made) return made;
      // The new key may end earlier than the old one would have.
      await narrowMade(deps, caller, made);
      return createdAnswer(deps, made, openText(deps, caller.account._id, id).text);
    },
    async recover(account, id) {
      const text = openText(deps, account, id);
      const made = await findOwnKey(db, account, text.id);
      if (made === undefined || !(await retireReplaced(db, made))) return undefined;
      return createdAnswer(deps, made, text.text);
    },
    refuseReplay: (res, id) => refuseText(deps, callerOf(res), id),
  };
}

function refuseRotation(reach: Reach, old: KeyDocument, now: Date): Problem | undefined {
  if (!isOver(old, now)) return beyondCaller(boundsOf(old), reach.bounds) ?? tooFarDown(reach, lineOf(old));
  if (old.rotatedTo === undefined) return ['key_not_active', {}];
  return ['key_not_active', { detail: `The key ${old.rotatedTo} replaces this one already. Rotate that one.` }];
}

function rotate(
  deps: KeyDeps,
  res: Reply,
  old: KeyDocument,
  sealed: SealedText,
  rotation: Rotation,
): Promise<KeyDocument | undefined | Refused> {
  const { db, clock } = deps;
  return changeAudited(deps, callerOf(res), {
    action: 'key.rotate',
    subject: { kind: 'key', id: old._id },
    read: async () => old,
    make: () => rotateKey(db, clock, old, rotation, openText(deps, callerOf(res).account._id, sealed)),
    madeOf: (made) => made && { ...old, rotatedTo: made._id, expiresAt: earlier(old.expiresAt, rotation.until) },
    isRefusal: isNotMade,
  }).catch(notMade);
}

function earlier(a: Date | undefined, b: Date): Date {
  return a !== undefined && a < b ? a : b;
}
