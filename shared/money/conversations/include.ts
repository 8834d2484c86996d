import type { Db } from 'mongodb';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { untilAnswered } from '../../platform/mongo/until-answered.ts';
import { type SingleUpdate, updateEach } from '../../platform/mongo/update-each.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { Log } from '../../platform/runtime/log.ts';
import type { OpenConversation, PaidConversation } from '../accounts/opening.ts';
import { OUTCOME_UNKNOWN } from './accept-outcome.ts';
import type { Answer, Answered, Arrival } from './arrival.ts';
import { insertBy } from './included-store.ts';
import { openerUpdate } from './opening-store.ts';
import type { PlannedInclusion } from './plan.ts';

export interface IncludeDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Stores messages that go in paid conversations. Nobody is charged, so the insert decides. Each kind is stored separately,
 * because a failure of one says nothing about the others. Answers for every message; never rejects.
 */
export async function include(
  deps: IncludeDeps,
  account: AccountId,
  includedMessages: readonly PlannedInclusion[],
): Promise<readonly Answered[]> {
  const { db } = deps;
  const keyed = includedMessages.filter(({ arrival }) => arrival.payBy !== undefined);
  const plain = includedMessages.filter(({ arrival }) => !arrival.again && arrival.payBy === undefined);
  const again = includedMessages.filter(({ arrival }) => arrival.again);
  const boarded = await Promise.all([
    board(deps, account, plain, async () => {
      const messages = plain.map(({ arrival, conversation }) => arrival.messageIn(conversation));
      await insertNew(db, 'messages', messages);
      return true;
    }),
    board(deps, account, again, async () => {
      const updates = again.map(({ arrival, conversation }) => inclusionUpdate(arrival, conversation));
      await updateEach(db, 'messages', updates);
      return true;
    }),
    ...keyed.map((one) => board(deps, account, [one], () => insertInTime(db, one))),
  ]);
  return boarded.flat();
}

/** Handles all messages together. `store` returns for each whether it was in time. */
async function board(
  { clock, log }: IncludeDeps,
  account: AccountId,
  includedMessages: readonly PlannedInclusion[],
  store: () => Promise<boolean>,
): Promise<readonly Answered[]> {
  if (includedMessages.length === 0) return [];
  try {
    const asked = await untilAnswered({ clock, log, what: { account } }, store);
    return includedMessages.map(({ arrival, conversation }) => [arrival, answerIn(conversation, asked)]);
  } catch (error) {
    return includedMessages.map(({ arrival }) => [arrival, { kind: 'failed', error }]);
  }
}

function answerIn({ id }: OpenConversation, asked: { readonly answer: boolean } | 'unknown'): Answer {
  if (asked === 'unknown') return OUTCOME_UNKNOWN;
  return asked.answer ? { kind: 'accepted', conversation: id, credits: 0 } : { kind: 'too_late' };
}

async function insertInTime(db: Db, { arrival, conversation }: PlannedInclusion): Promise<boolean> {
  return arrival.payBy === undefined || insertBy(db, arrival.messageIn(conversation), arrival.payBy);
}

/**
 * The update of a message that is stored already. A process that died may have opened and paid for the conversation with this
 * same message.
 */
function inclusionUpdate({ _id, to }: Arrival, conversation: PaidConversation): SingleUpdate {
  const { id, opener, customer } = conversation;
  if (opener === _id) return openerUpdate(conversation);
  const update = { conversation: id, includedWith: opener };
  return {
    filter: { _id, conversation: { $ne: id } },
    update:
      customer === to
        ? { $set: update, $unset: { customer: '' }, $inc: { v: 1 } }
        : { $set: { ...update, customer }, $inc: { v: 1 } },
  };
}
