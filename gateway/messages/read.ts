import type { Db } from 'mongodb';
import type { AnyMessage } from '../../shared/messages/any-message.ts';
import type { ChatMessageDocument, InboundMessageDocument } from '../../shared/messages/chat-message.ts';
import type { MessageDocument, StoredMessage } from '../../shared/messages/message.ts';
import type { AccountId, MessageId } from '../../shared/runtime/ids.ts';

/** What the status endpoint shows of a message; never its text. */
const STATUS_FIELDS = [
  '_id',
  'channel',
  'to',
  'state',
  'deliveredAt',
  'operator',
  'reference',
  'errorCode',
  'errorReason',
  'outcome',
  'history',
] as const satisfies readonly (keyof StoredMessage)[];
/** Those of one channel, or one direction, only. */
const OWN_FIELDS = ['segments', 'direction', 'conversation', 'from'] as const;

export type MessageStatus = Pick<StoredMessage, (typeof STATUS_FIELDS)[number]> & Partial<OwnFields>;
type OwnFields = Pick<MessageDocument, 'segments'> &
  Pick<ChatMessageDocument, 'conversation'> &
  Pick<InboundMessageDocument, 'from'> & { readonly direction: 'in' | 'out' };

const PROJECTION = Object.fromEntries([...STATUS_FIELDS, ...OWN_FIELDS].map((name) => [name, 1]));

/** One read by `_id`. Undefined when there is no such message, or it is another account's. */
export async function readMessageStatus(db: Db, account: AccountId, id: MessageId): Promise<MessageStatus | undefined> {
  const found = await db
    .collection<AnyMessage>('messages')
    .findOne<MessageStatus>({ _id: id, account }, { projection: PROJECTION });
  return found ?? undefined;
}
