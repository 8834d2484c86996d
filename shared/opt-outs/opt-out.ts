import type { AccountDocument } from '../accounts/account.ts';
import type { MessageDocument } from '../messages/message.ts';
import { laneOf } from '../messages/routing.ts';
import type { AccountId, MessageId, OptOutId } from '../runtime/ids.ts';

/**
 * Whether a customer wants no SMS of an account, or none of one of its numbers. It stays when the customer opts in again, so that
 * what is done again after a crash finds the later word.
 */
export interface OptOutDocument {
  /** One per account, customer and scope. */
  readonly _id: OptOutId;
  readonly account: AccountId;
  /** The number that the customer wrote to, or `WHOLE_ACCOUNT`. */
  readonly scope: string;
  /** Digits, country code first. */
  readonly customer: string;
  /** Present while opted out, with the three fields below. */
  readonly out?: true;
  readonly since?: Date;
  readonly source?: OptOutSource;
  /** The customer's word. */
  readonly word?: string;
  /** What came before this changes nothing any more. */
  readonly changedAt: Date;
  /** The customer's newest messages that changed it, oldest first, `CHANGED_BY_MAX` at most. */
  readonly changedBy: readonly MessageId[];
}

export type OptOutSource = 'inbound' | 'api' | 'ops' | 'import';

/** The place in the list of an account. */
export type OptOutPlace = `${string}:${string}`;

/** The scope of who wants nothing of the account, whatever the sender. */
export const WHOLE_ACCOUNT = '*';

export const CHANGED_BY_MAX = 8;

/** What an account may exempt from opt-outs. `transactional` is the whole route, one-time passwords included. */
export const EXEMPTIONS = ['otp', 'transactional'] as const satisfies AccountDocument['optOutExempt'];

/** Whether such a message goes to customers who opted out, too: only by the account's setting. */
export function isExempt(
  { route, lane }: Pick<MessageDocument, 'route' | 'lane'>,
  exempt: AccountDocument['optOutExempt'] = [],
): boolean {
  return (
    (route === 'transactional' && exempt.includes('transactional')) ||
    (lane === laneOf('transactional', 'otp') && exempt.includes('otp'))
  );
}

/** Only digits can be written to. Who gets messages under a name says STOP to a number of the account. */
const NUMBER = /^\d+$/;

/**
 * Whether opt-outs of these scopes are for messages of this sender, too. For a number its own counts, and that of the whole
 * account; for a name each of the account's.
 */
export function blocks(scopes: readonly string[], sender: string): boolean {
  return scopes.some((scope) => scope === sender || scope === WHOLE_ACCOUNT || !NUMBER.test(sender));
}
