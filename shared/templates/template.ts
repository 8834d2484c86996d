import type { Route } from '../messages/message.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { SlotRule } from './slot.ts';

/**
 * A content template on the operators' DLT platform, registered to an account, for example `{_id: 'acc_01…:1107160000000012345',
 * dltId: '1107160000000012345', senders: ['HARKRA'], content: 'Your OTP is {#var#}.'}`. Its content never changes: operators give
 * a changed text a new id. The operators assign the ids, so two accounts may have the same.
 */
export interface TemplateDocument {
  readonly _id: TemplateKey;
  readonly account: AccountId;
  /** 10 to 20 digits, assigned by the operator; `id` in the API, and sent to the carrier. */
  readonly dltId: string;
  readonly name: string;
  /** Headers that may send it, without an operator's prefix or suffix. */
  readonly senders: readonly string[];
  readonly routes: readonly Route[];
  /** PE id of the business that registered it, when it is not the account's own. */
  readonly entityId?: string;
  /** Text with slots, exactly as registered (pattern.ts). */
  readonly content: string;
  /** The rules of slots written `{#var#}`, by slot order, where the operator keeps them beside the text. */
  readonly slots?: readonly SlotRule[];
  readonly status: TemplateStatus;
  readonly createdAt: Date;
  /** Time of the newest change of `status`. */
  readonly decidedAt?: Date;
  /** Set by ops. Its messages are accepted, but they wait. */
  readonly paused?: true;
  /** Why it was rejected, for people. */
  readonly reason?: string;
}

export type TemplateKey = `${AccountId}:${string}`;
export type TemplateStatus = 'submitted' | 'approved' | 'rejected';

/** The transitions of a status. An operator may withdraw an approval, and may approve after a rejection. */
export const MAY_BECOME = {
  approved: ['submitted', 'rejected'],
  rejected: ['submitted', 'approved'],
} as const satisfies Record<string, readonly TemplateStatus[]>;

export type NewTemplate = Pick<TemplateDocument, 'dltId' | 'name' | 'senders' | 'routes' | 'content'> & {
  readonly entityId?: string | undefined;
  readonly slots?: readonly SlotRule[] | undefined;
  readonly status: TemplateStatus;
};

export function templateKey(account: AccountId, dltId: string): TemplateKey {
  return `${account}:${dltId}`;
}
