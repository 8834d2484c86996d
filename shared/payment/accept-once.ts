import type { Db } from 'mongodb';
import { CREDITS_PER_MESSAGE } from '../ledger/refund.ts';
import { type MessageDraft, queuedMessage } from '../messages/draft.ts';
import { type Clock, isoDate } from '../runtime/clock.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import { type AccountId, ownGroupId } from '../runtime/ids.ts';
import type { AcceptOutcome } from './accept.ts';
import { debitAgain } from './debit-again.ts';
import type { FollowUp } from './follow-up.ts';

/**
 * Accepts a message whose id derives from what it follows from, so that it can be accepted again, by any process, after a crash or
 * at the same time: its debit's id derives from the message's, and each try looks whether that debit is made, pending or in the
 * ledger. It is paid for once, and stored once. Costs more commands than a first try by `accept.ts`, and shares them with nobody.
 * Throws the store's error; then it may be accepted, and the next try tells.
 */
export async function acceptOnce(
  { db, clock, followUp }: { readonly db: Db; readonly clock: Clock; readonly followUp: FollowUp },
  account: AccountId,
  draft: MessageDraft,
): Promise<AcceptOutcome> {
  const group = ownGroupId(draft._id);
  const messages = [queuedMessage(account, group, draft)];
  const request = { account, group, messages, today: isoDate(clock.now()), done: [] };
  const debit = await debitAgain(db, request);
  if (debit.kind === 'unknown') return { kind: 'outcome_unknown' };
  if (debit.kind === 'refused') return debit.why;
  crashPoint('accept:debited');
  // Another process may be at the same: only the sweep clears the pending change.
  await followUp.store(request, false);
  return { kind: 'accepted', credits: CREDITS_PER_MESSAGE };
}
