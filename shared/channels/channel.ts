import type { Db } from 'mongodb';
import type { AnyMessage } from '../messages/any-message.ts';

/**
 * What the common parts (settlement, events) need to know of a message's channel. How a message is accepted and how it leaves is
 * no part of this: each channel has its own way, in gateway/<channel> and in its worker. What the API shows of it:
 * gateway/messages/views.ts.
 */
export interface Channel<Message extends AnyMessage> {
  /** How many parts one submit of it has. Each part is answered, and told of later, on its own. */
  partsOf(message: Message): number;
  /** Its `operator` in the events of a message that arrived, when nobody named the network. */
  deliveredBy(message: Message): string;
  /** What its events tell beside the members that all channels have. */
  eventMembers(message: Message): Readonly<Record<string, string | undefined>>;
  /**
   * Gives back what was paid for those of these messages that ended and were surely never taken. Exactly once each, however often it is
   * called. All are of this channel.
   */
  refund(db: Db, messages: readonly Message[]): Promise<void>;
}
