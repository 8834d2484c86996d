import type { Route } from '../messages/message.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { SlotRule } from './slot.ts';

/**
 * A content template that the operators' DLT platform knows, registered to an account, for example
 * `{_id: 'acc_01…:1107160000000012345', dltId: '1107160000000012345', senders: ['HARKRA'], content: 'Your OTP is {#var#}.'}`.
 * Its content never changes: operators give a changed text a new id. Ids are the operators', so two accounts may have the same.
 */
export interface TemplateDocument {
  readonly _id: TemplateKey;
  readonly account: AccountId;
  /** 10 to 20 digits, given by the operator; `id` in the API, and what travels to the carrier. */
  readonly dltId: string;
  readonly name: string;
  /** Headers that may send it: bare, without an operator's prefix or suffix. */
  readonly senders: readonly string[];
  readonly routes: readonly Route[];
  /** PE id of the business that registered it, when it is not the account's own. */
  readonly entityId?: string;
  /** Text with slots, exactly as registered (pattern.ts). */
  readonly content: string;
  /** What the slots written `{#var#}` hold, by slot order, where the operator keeps that beside the text. */
  readonly slots?: readonly SlotRule[];
  readonly status: TemplateStatus;
  readonly createdAt: Date;
  /** Of the newest change of `status`. */
  readonly decidedAt?: Date;
  /** Set by ops: messages of it are accepted, and wait. */
  readonly paused?: true;
  /** Why it was rejected, for people. */
  readonly reason?: string;
}

export type TemplateKey = `${AccountId}:${string}`;
export type TemplateStatus = 'submitted' | 'approved' | 'rejected';

/** What a decision may leave. An operator may take an approval back, and approve after all. */
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
