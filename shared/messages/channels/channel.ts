import type { Db } from 'mongodb';
import type { Customer } from '../../money/conversations/person.ts';
import type { AccountId, MessageId } from '../../platform/runtime/ids.ts';
import type { AnyMessage } from '../document/any-message.ts';

/** What a message says of its customer. */
export type Addressed = Pick<AnyMessage, '_id' | 'to'> & {
  readonly direction?: 'in' | 'out';
  readonly from?: string | null;
};

/**
 * What settlement and events need to know about a message's channel. Accepting and sending are not part of it: each channel does
 * them in gateway/<channel> and in its worker. What the API shows: gateway/endpoints/messages/views.ts.
 */
export interface Channel<Message extends AnyMessage> {
  /** Number of parts in one submit. Each part is answered, and reported on later, by itself. */
  partsOf(message: Message): number;
  /** The `operator` in events of a delivered message when the network is not known. */
  deliveredBy(message: Message): string;
  /** Members of its events beyond those that all channels have. */
  eventMembers(message: Message): Readonly<Record<string, string | undefined>>;
  /**
   * Who wrote these messages of an account, or whom they were written to. Empty where a channel knows numbers alone. One read, and
   * another one for persons with several names.
   */
  customersOf(db: Db, account: AccountId, messages: readonly Addressed[]): Promise<ReadonlyMap<MessageId, Customer>>;
  /**
   * Refunds those of these messages that ended and were certainly never taken. Each is refunded exactly once, however often this
   * is called. All messages are of this channel.
   */
  refund(db: Db, messages: readonly Message[]): Promise<void>;
}
