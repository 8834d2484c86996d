import type { Db } from 'mongodb';
import type { AccountId, MessageId } from '../runtime/ids.ts';
import type { MessageDocument } from './message.ts';

/** What the status endpoint shows of a message; never its text. */
const STATUS_FIELDS = [
  '_id',
  'to',
  'state',
  'deliveredAt',
  'operator',
  'reference',
  'errorCode',
  'errorReason',
  'outcome',
  'segments',
  'history',
] as const satisfies readonly (keyof MessageDocument)[];

export type MessageStatus = Pick<MessageDocument, (typeof STATUS_FIELDS)[number]>;

const PROJECTION = Object.fromEntries(STATUS_FIELDS.map((name) => [name, 1]));

/** One read by `_id`. Undefined when there is no such message, or it is another account's. */
export async function readMessageStatus(db: Db, account: AccountId, id: MessageId): Promise<MessageStatus | undefined> {
  const found = await db
    .collection<MessageDocument>('messages')
    .findOne<MessageStatus>({ _id: id, account }, { projection: PROJECTION });
  return found ?? undefined;
}
