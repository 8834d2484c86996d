import { isoTimestamp } from '../platform/runtime/clock.ts';
import type { AccountId } from '../platform/runtime/ids.ts';

/** A customer of the chat-app channel told the provider to get no marketing of the account any more, or to get it again. */
export interface MarketingChange {
  readonly account: AccountId;
  /** A number, or a user id. */
  readonly customer: string;
  readonly wish: 'stopped' | 'resumed';
  readonly at: Date;
}

export function marketingBody(event: string, { customer, at }: MarketingChange): object {
  return { event, customer, timestamp: isoTimestamp(at), channel: 'chatapp' };
}
