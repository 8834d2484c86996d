import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import { readAccepted } from './just-accepted.ts';
import { type MessageStatus, STATUS_FIELDS } from './view.ts';
import { ALL_VIEWS } from './views.ts';

const FIELDS = [...STATUS_FIELDS, ...ALL_VIEWS.flatMap((view) => view.statusFields)];
const PROJECTION = Object.fromEntries(FIELDS.map((name) => [name, 1]));

/** One read by `_id`, unless it was accepted just now. Undefined when the account has no such message. */
export function findMessageStatus(db: Db, account: AccountId, id: MessageId): Promise<MessageStatus | undefined> {
  return readAccepted<MessageStatus>(db, account, id, async () => {
    const found = await db
      .collection<AnyMessage>('messages')
      .findOne<MessageStatus>({ _id: id, account }, { projection: PROJECTION });
    return found ?? undefined;
  });
}
