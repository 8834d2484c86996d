import type { ListedCarrier } from '../carriers/carrier-condition.ts';
import type { ProviderDocument } from '../carriers/providers/provider.ts';
import type { EndpointDocument } from '../events/webhooks/endpoint.ts';
import type { WaitingLane } from '../messages/queue/waiting-lanes.ts';
import type { WaitingAtCarrier } from '../messages/settlement/unknowns.ts';
import type { HoldDocument } from '../messages/traffic/hold.ts';
import type { AccountDocument } from '../money/accounts/account.ts';

/** What the finders of conditions look at. The watch gathers an installation, and whoever asks for an account gathers the account. */
export interface Installation {
  readonly now: Date;
  /** Apps of which no process lives. */
  readonly missing: readonly string[];
  /** Who sends X-Forwarded-For to a gateway that trusts no proxy. */
  readonly ignoredProxies: readonly string[];
  readonly carriers: readonly CarrierSeen[];
  /** What became of messages, by carrier and by operators' route. */
  readonly traffic: readonly TrafficSeen[];
  readonly queues: readonly WaitingLane[];
  /** The last five minutes of the API: all requests and those that failed with 5xx; all single sends and those slower than a second. */
  readonly api: { readonly requests: number; readonly failed: number; readonly sends: number; readonly slow: number };
  /** Posts to webhooks in the last quarter of an hour. */
  readonly posts: { readonly all: number; readonly failed: number };
  readonly store: StoreSeen;
  /** How far the clocks of processes are ahead of the store's, in milliseconds; by machine. */
  readonly clocks: readonly { readonly machine: string; readonly aheadMs: number }[];
  /** Certificates that connections need, and when they end. */
  readonly certificates: readonly { readonly whose: string; readonly carrier?: string; readonly until: Date }[];
}

export interface StoreSeen {
  /** How long a write took until a majority had it: the fastest of the last three. */
  readonly writeMs: number;
  /** Of the embedded store's disk. */
  readonly disk?: { readonly dir: string; readonly freeBytes: number; readonly bytes: number } | undefined;
}

export interface CarrierSeen extends ListedCarrier {
  /** Answers to submits in the last quarter of an hour, and the newest of them (carriers.ts). */
  readonly quarter: Answers;
  readonly newest: Answers;
  /** Refusals since something was accepted last, within the last hour. Absent: none. */
  readonly refusals?: { readonly count: number; readonly since: Date };
  /** Submits of five minutes but the last one, and answers of any kind in the last five. */
  readonly submitted: number;
  readonly answered: number;
  /** Binds that were made in the last half hour. */
  readonly binds30: number;
  /** What it accepted in the last hour but the last ten minutes, and receipts of the last 30 minutes. */
  readonly accepted: number;
  readonly receipts: number;
  /** Receipts of the last minutes that fit no message; those of the last hour with a word that no table has. */
  readonly orphans: number;
  readonly unknownWords: number;
  /** Submits that were never answered and wait for an answer, a receipt or the policy; those of the last hour that the policy decided. */
  readonly unknown: WaitingAtCarrier;
  readonly decided: number;
  /** Messages that it refused for now, and that wait for their next try. */
  readonly retrying: WaitingAtCarrier;
}

export interface Answers {
  readonly accepted: number;
  /** For good, for now, or because of the session. */
  readonly refused: number;
  readonly throttled: number;
}

/** Of this hour and the one before, and of the week before that. */
export interface TrafficSeen {
  readonly kind: 'carrier' | 'route';
  readonly id: string;
  readonly recent: Fates;
  readonly usual: Fates;
}

/** What became of messages. `ended`: in any way. */
export interface Fates {
  readonly made: number;
  readonly ended: number;
  readonly delivered: number;
  readonly rejected: number;
}

/** Waiting messages are counted up to this. Beyond it "at least" is told: nobody acts differently, and the store counts no further. */
export const COUNTED_MAX = 1_000;

export interface AccountSeen {
  readonly now: Date;
  readonly account: Pick<
    AccountDocument,
    '_id' | 'balance' | 'dlt' | 'expiryDate' | 'held' | 'lowBalance' | 'name' | 'senders' | 'status'
  >;
  /** Prefixes that look like fraud, and those that were released. */
  readonly holds: readonly Pick<HoldDocument, '_id' | 'prefix' | 'state' | 'since' | 'seen'>[];
  /** It has a sender that is approved, or needs none. */
  readonly hasSender: boolean;
  /** Some carrier may take its SMS. */
  readonly hasRoute: boolean;
  /** Since when every carrier of its SMS refuses them or cannot be reached. Absent: one may take them, or none is set up. */
  readonly stoppedSince?: Date | undefined;
  readonly webhooks: readonly Pick<EndpointDocument, '_id' | 'url' | 'status' | 'disabledReason' | 'failingSince'>[];
  /** Its numbers on the chat-app channel. */
  readonly providers: readonly ProviderDocument[];
  /** For how many days the balance lasts at the rate of the last week. Absent: nothing was used, or nobody has counted. */
  readonly lastsDays?: number | undefined;
}
