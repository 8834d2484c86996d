import type { TemplateRequestId } from '../../platform/runtime/ids.ts';
import type { TemplateDocument, UnannouncedDecision } from './template.ts';

/**
 * A template that an account asked for and that has no id of an operator yet. With its id it becomes a template of the status
 * `submitted`.
 */
export interface TemplateRequestDocument
  extends Pick<
    TemplateDocument,
    | 'account'
    | 'name'
    | 'senders'
    | 'routes'
    | 'entityId'
    | 'content'
    | 'category'
    | 'reason'
    | 'createdAt'
    | 'decidedAt'
  > {
  readonly _id: TemplateRequestId;
  readonly status: 'requested' | 'rejected';
  /** Its place among the account's requests (quotas.ts). */
  readonly place: number;
  /** Set when the request has its id and becomes a template: whoever reads it finishes that. */
  readonly dltId?: string;
  readonly unannounced?: readonly UnannouncedDecision[];
}
