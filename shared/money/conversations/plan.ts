import type { Opening, PaidConversation } from '../accounts/opening.ts';
import { OUTCOME_UNKNOWN } from './accept-outcome.ts';
import type { Answered, Arrival } from './arrival.ts';
import type { ChatDecision } from './decide.ts';

/** A message that opens a conversation and pays for it. */
export interface PlannedOpener {
  readonly arrival: Arrival;
  readonly opening: Opening;
}

/** A message that goes in a paid conversation. */
export interface PlannedInclusion {
  readonly arrival: Arrival;
  readonly conversation: PaidConversation;
}

/** What to do now for a group of arrivals. Arrivals in none of the three lists are decided again afterwards. */
export interface ChatPlan {
  readonly openers: readonly PlannedOpener[];
  readonly includedMessages: readonly PlannedInclusion[];
  readonly refused: readonly Answered[];
}

/**
 * Sorts arrivals by their decisions, in order. Pure. An arrival that would go in a conversation which this group is only about
 * to open is left out: it must wait until the account has paid.
 */
export function planOf(arrivals: readonly Arrival[], decisions: readonly ChatDecision[]): ChatPlan {
  const openers: PlannedOpener[] = [];
  const includedMessages: PlannedInclusion[] = [];
  const refused: Answered[] = [];
  arrivals.forEach((arrival, i) => {
    const decision = decisions[i];
    if (decision?.kind === 'open') openers.push({ arrival, opening: decision.opening });
    else if (decision?.kind !== 'included') refused.push([arrival, decision ?? OUTCOME_UNKNOWN]);
    else if (!openers.some(({ opening }) => opening.id === decision.conversation.id)) {
      includedMessages.push({ arrival, conversation: decision.conversation });
    }
  });
  return { openers, includedMessages, refused };
}
