import type { MessageDocument } from '../../messages/document/message.ts';
import { laneOf } from '../../messages/document/routing.ts';
import type { AccountDocument } from '../../money/accounts/account.ts';
import type { AccountId, MessageId, OptOutId, RequestId } from '../../platform/runtime/ids.ts';

/**
 * Says whether a customer wants no SMS of an account, or of one of its numbers. The document stays when the customer opts in
 * again. So when a step is repeated after a crash, it finds the customer's later wish.
 */
export interface OptOutDocument {
  /** There is one document per account, customer and scope. */
  readonly _id: OptOutId;
  readonly account: AccountId;
  /** The number that the customer wrote to, or `WHOLE_ACCOUNT`. */
  readonly scope: string;
  /** Digits, country code first. */
  readonly customer: string;
  /** Present while the customer has opted out, together with the next fields up to `request`. */
  readonly out?: true;
  readonly since?: Date;
  readonly source?: OptOutSource;
  /** The word that the customer sent. */
  readonly word?: string;
  /** The API request that stored the opt-out. */
  readonly request?: RequestId;
  /** When the last wish came, also one that changed nothing. Messages that came before change nothing any more. */
  readonly changedAt: Date;
  /** The customer's last messages that changed it, oldest first, at most `CHANGED_BY_MAX`. */
  readonly changedBy: readonly MessageId[];
}

export type OptOutSource = 'inbound' | 'api' | 'ops' | 'import';

/** A place in an account's list, for paging. */
export type OptOutPlace = `${string}:${string}`;

/** The scope of customers who want nothing from the account, whatever the sender. */
export const WHOLE_ACCOUNT = '*';

export const CHANGED_BY_MAX = 8;

/** What an account may exempt from opt-outs. `transactional` means the whole route, with its one-time passwords. */
export const EXEMPTIONS = ['otp', 'transactional'] as const satisfies AccountDocument['optOutExempt'];

/** Whether such a message is sent to customers who opted out. Only the account's setting allows it. */
export function isExempt(
  { route, lane }: Pick<MessageDocument, 'route' | 'lane'>,
  exempt: AccountDocument['optOutExempt'] = [],
): boolean {
  return (
    (route === 'transactional' && exempt.includes('transactional')) ||
    (lane === laneOf('transactional', 'otp') && exempt.includes('otp'))
  );
}

/** A customer can answer only to digits. If the sender is a name, the customer writes STOP to one of the account's numbers. */
const NUMBER = /^\d+$/;

/**
 * Whether opt-outs with these scopes forbid messages of this sender. A sender that is a number is forbidden by its own scope and
 * by that of the whole account. A sender that is a name is forbidden by any scope of the account.
 */
export function blocks(scopes: readonly string[], sender: string): boolean {
  return scopes.some((scope) => scope === sender || scope === WHOLE_ACCOUNT || !NUMBER.test(sender));
}
