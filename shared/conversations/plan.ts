import type { OpenConversation, Opening } from '../accounts/opening.ts';
import { OUTCOME_UNKNOWN } from './accept-outcome.ts';
import type { Answered, Arrival } from './arrival.ts';
import type { ChatDecision } from './decide.ts';

/** It opens a conversation and is charged with it. */
export interface PlannedOpener {
  readonly arrival: Arrival;
  readonly opening: Opening;
}

/** It goes in a conversation that is paid for. */
export interface PlannedRider {
  readonly arrival: Arrival;
  readonly conversation: OpenConversation;
}

/** What is to be done now for a group of arrivals. Who is in none of the three is to be decided anew afterwards. */
export interface ChatPlan {
  readonly openers: readonly PlannedOpener[];
  readonly riders: readonly PlannedRider[];
  readonly refused: readonly Answered[];
}

/**
 * Sorts arrivals by what was decided of each, in their order. Pure. Who would ride in a conversation that one of the same group
 * is only about to open is left out: whether it opens is known when the account has paid.
 */
export function planOf(arrivals: readonly Arrival[], decisions: readonly ChatDecision[]): ChatPlan {
  const openers: PlannedOpener[] = [];
  const riders: PlannedRider[] = [];
  const refused: Answered[] = [];
  arrivals.forEach((arrival, i) => {
    const decision = decisions[i];
    if (decision?.kind === 'open') openers.push({ arrival, opening: decision.opening });
    else if (decision?.kind !== 'ride') refused.push([arrival, decision ?? OUTCOME_UNKNOWN]);
    else if (!openers.some(({ opening }) => opening.id === decision.conversation.id)) {
      riders.push({ arrival, conversation: decision.conversation });
    }
  });
  return { openers, riders, refused };
}
