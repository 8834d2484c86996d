import type { ListedCarrier } from '../carriers/list-conditions.ts';
import type { ProviderDocument } from '../carriers/providers/provider.ts';
import type { EndpointDocument } from '../events/webhooks/endpoint.ts';
import type { WaitingLane } from '../messages/queue/waiting-lanes.ts';
import type { WaitingAtCarrier } from '../messages/settlement/unknowns.ts';
import type { AccountDocument } from '../money/accounts/account.ts';

/** What the finders of conditions look at. The watch gathers an installation, and whoever asks for an account gathers the account. */
export interface Installation {
  readonly now: Date;
  /** Apps of which no process lives. */
  readonly missing: readonly string[];
  /** Who sends X-Forwarded-For to a gateway that trusts no proxy. */
  readonly ignoredProxies: readonly string[];
  readonly carriers: readonly CarrierSeen[];
  readonly queues: readonly WaitingLane[];
}

export interface CarrierSeen extends ListedCarrier {
  /** Answers to submits in the last minute, and in the last quarter of an hour. */
  readonly minute: Answers;
  readonly quarter: Answers;
  /** Refusals since something was accepted last, within the last hour. Absent: none. */
  readonly refusals?: { readonly count: number; readonly since: Date };
  /** Submits that were never answered and wait for an answer, a receipt or the policy. */
  readonly unknown: WaitingAtCarrier;
  /** Messages that it refused for now, and that wait for their next try. */
  readonly retrying: WaitingAtCarrier;
}

export interface Answers {
  readonly accepted: number;
  /** For good, for now, or because of the session. */
  readonly refused: number;
  readonly throttled: number;
}

/** Waiting messages are counted up to this. Beyond it "at least" is told: nobody acts differently, and the store counts no further. */
export const COUNTED_MAX = 1_000;

export interface AccountSeen {
  readonly now: Date;
  readonly account: Pick<
    AccountDocument,
    '_id' | 'balance' | 'dlt' | 'expiryDate' | 'held' | 'lowBalance' | 'name' | 'senders' | 'status'
  >;
  /** It has a sender that is approved, or needs none. */
  readonly hasSender: boolean;
  /** Some carrier may take its SMS. */
  readonly hasRoute: boolean;
  readonly webhooks: readonly Pick<EndpointDocument, '_id' | 'url' | 'status' | 'disabledReason' | 'failingSince'>[];
  readonly provider?: ProviderDocument | undefined;
  /** For how many days the balance lasts at the rate of the last week. Absent: nothing was used, or nobody has counted. */
  readonly lastsDays?: number | undefined;
}
