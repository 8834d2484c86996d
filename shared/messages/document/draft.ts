import { type AccountId, type GroupId, idDay, idTime, isTestAccount } from '../../platform/runtime/ids.ts';
import type { MessageDocument } from './message.ts';

/** A message as requested: checked and routed, not paid yet. */
export type MessageDraft = Pick<
  MessageDocument,
  | '_id'
  | 'to'
  | 'sender'
  | 'route'
  | 'path'
  | 'routed'
  | 'lane'
  | 'text'
  | 'encoding'
  | 'segments'
  | 'validUntil'
  | 'template'
  | 'entityId'
  | 'reference'
  | 'verification'
  | 'batch'
  | 'inReplyTo'
  | 'fallbackOf'
  | 'resendOf'
  | 'credits'
  | 'keys'
>;

/** The document that a paid draft becomes. Pure: accept and a redo after a crash write the same. */
export function queuedMessage(account: AccountId, group: GroupId, draft: MessageDraft): MessageDocument {
  return {
    _id: draft._id,
    channel: 'sms',
    account,
    day: idDay(draft._id),
    group,
    ...(draft.batch === undefined ? {} : { batch: draft.batch }),
    to: draft.to,
    sender: draft.sender,
    route: draft.route,
    path: draft.path,
    ...(draft.routed === undefined ? {} : { routed: draft.routed }),
    lane: draft.lane,
    text: draft.text,
    encoding: draft.encoding,
    segments: draft.segments,
    ...(draft.template === undefined ? {} : { template: draft.template }),
    ...(draft.entityId === undefined ? {} : { entityId: draft.entityId }),
    ...(draft.reference === undefined ? {} : { reference: draft.reference }),
    ...(draft.verification === undefined ? {} : { verification: draft.verification }),
    ...(draft.inReplyTo === undefined ? {} : { inReplyTo: draft.inReplyTo }),
    ...(draft.fallbackOf === undefined ? {} : { fallbackOf: draft.fallbackOf }),
    ...(draft.resendOf === undefined ? {} : { resendOf: draft.resendOf }),
    ...(draft.credits === undefined ? {} : { credits: draft.credits }),
    ...(draft.keys === undefined ? {} : { keys: draft.keys }),
    state: 'queued',
    v: 0,
    due: firstDue(account, draft),
    validUntil: draft.validUntil,
    tries: 0,
    history: [],
  };
}

/** When the maintenance looks at an accepted message: at the end of its validity, and at a test message at once. */
export function firstDue(account: AccountId, { _id, validUntil }: Pick<MessageDocument, '_id' | 'validUntil'>): Date {
  return isTestAccount(account) ? idTime(_id) : validUntil;
}
