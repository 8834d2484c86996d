import type { Route } from '../messages/document/message.ts';
import type { WithActs } from '../platform/runtime/act.ts';
import type { AccountId, SenderId } from '../platform/runtime/ids.ts';

/** A sender id registered to an account for some routes. */
export interface SenderDocument extends WithActs {
  readonly _id: SenderId;
  readonly account: AccountId;
  /** As it goes on the wire (source_addr): bare, without an operator's prefix or suffix. */
  readonly sender: string;
  readonly routes: readonly Route[];
  readonly status: 'approved' | 'submitted' | 'rejected';
  /** The account asked for it itself, and may remove it and ask anew. So an approval names the registration that was read, by id. */
  readonly requested?: true;
  /** Its place among what the account asked for and nobody approved (quotas.ts). */
  readonly place?: number;
  readonly createdAt: Date;
  /** Time of the newest decision, and what was said with it, for people. */
  readonly decidedAt?: Date;
  readonly reason?: string;
}
