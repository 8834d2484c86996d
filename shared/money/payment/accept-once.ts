import type { Db } from 'mongodb';
import { type MessageDraft, queuedMessage } from '../../messages/document/draft.ts';
import { REPEAT_MS } from '../../platform/mongo/until-answered.ts';
import { type Clock, isoDate } from '../../platform/runtime/clock.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import { type AccountId, ownGroupId } from '../../platform/runtime/ids.ts';
import { within } from '../../platform/runtime/within.ts';
import { creditsOf } from '../accounts/prices.ts';
import { chargesOf, type KeyCaps } from '../ledger/spending.ts';
import type { AcceptOutcome } from './accept.ts';
import { debitAgain } from './debit-again.ts';
import type { FollowUp } from './follow-up.ts';

/**
 * Accepts a message whose id is derived. It can be accepted again by any process, after a crash or at the same time, and is still
 * paid for and stored only once: its debit's id derives from the message's id, and each try checks whether that debit was made,
 * is pending, or is in the ledger. It costs more commands than a first try by `accept.ts`, and shares them with no other
 * request. `caps`: of the keys that it counts for. Throws the store's error. The message may be accepted then; the next try finds out.
 */
export async function acceptOnce(
  { db, clock, followUp }: { readonly db: Db; readonly clock: Clock; readonly followUp: FollowUp },
  account: AccountId,
  draft: MessageDraft,
  caps: readonly KeyCaps[] = [],
): Promise<AcceptOutcome> {
  const group = ownGroupId(draft._id);
  const messages = [queuedMessage(account, group, draft)];
  const keys = chargesOf([{ caps, amount: creditsOf(draft) }]);
  const request = { account, group, messages, today: isoDate(clock.now()), done: [], keys };
  const debit = await debitAgain(db, request);
  if (debit.kind === 'unknown') return { kind: 'outcome_unknown' };
  if (debit.kind === 'refused') return debit.why;
  crashPoint('accept:debited');
  // Another process may be doing the same, or may have done it.
  await within(REPEAT_MS, followUp.store([{ ...request, first: false }]));
  return { kind: 'accepted', credits: creditsOf(draft) };
}
