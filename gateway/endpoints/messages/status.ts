import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { ChatContent, ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { shownState } from '../../../shared/messages/document/status.ts';
import { findInQueue } from '../../../shared/messages/queue/queue-store.ts';
import { readPaid } from '../../../shared/money/payment/pending.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime, isMessageId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { DeliveryStatus, IN_PATH } from './shapes.ts';
import {
  ALL_VIEWS,
  type MessageStatus,
  STATUS_FIELDS,
  type TextlessChatMessage,
  type TextlessSms,
  viewOf,
} from './views.ts';

/** Another account's message is answered like one that does not exist. */
export const status = endpoint({
  id: 'status',
  call: 'messages.status',
  method: 'get',
  path: '/v2/status/{message_id}',
  tag: 'SMS',
  summary: 'Delivery status of a message',
  scopes: ['read'],
  test: 'apart',
  params: IN_PATH,
  answer: DeliveryStatus,
  problems: ['message_not_found'],
  examples: {
    answer: {
      delivered: {
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'delivered',
        delivered_at: '2026-11-21T10:00:04+00:00',
        operator: 'Example Carrier',
        segments: 1,
        timeline: [
          { status: 'queued', at: '2026-11-21T10:00:00+00:00' },
          { status: 'sent', at: '2026-11-21T10:00:01+00:00' },
          { status: 'delivered', at: '2026-11-21T10:00:04+00:00' },
        ],
      },
      'chat-app': {
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'read',
        delivered_at: '2026-11-21T10:00:04+00:00',
        operator: 'chatapp',
        channel: 'chatapp',
        direction: 'out',
        conversation_id: 'cnv_01m7znjn7hdb5pft3awkb6pgvy',
        timeline: [
          { status: 'queued', at: '2026-11-21T10:00:00+00:00' },
          { status: 'sent', at: '2026-11-21T10:00:01+00:00' },
          { status: 'delivered', at: '2026-11-21T10:00:04+00:00' },
          { status: 'read', at: '2026-11-21T10:00:09+00:00' },
        ],
      },
    },
  },
  async handle({ db }, { caller, params, told }) {
    const id = params.message_id;
    if (!isMessageId(id)) return refused('message_not_found');
    told.messageId = id;
    const message = await findMessageStatus(db, caller.account._id, id);
    return message === undefined ? refused('message_not_found') : statusRecord(message);
  },
});

const FIELDS = [...STATUS_FIELDS, ...ALL_VIEWS.flatMap((view) => view.statusFields)];
const PROJECTION = Object.fromEntries(FIELDS.map((name) => [name, 1]));

/** One read by `_id`, or more for a message accepted just now. */
export function findMessageStatus(db: Db, account: AccountId, id: MessageId): Promise<MessageStatus | undefined> {
  return readAccepted<MessageStatus>(
    db,
    account,
    id,
    async () => {
      const found = await db
        .collection<AnyMessage>('messages')
        .findOne<MessageStatus>({ _id: id, account }, { projection: PROJECTION });
      return found ?? undefined;
    },
    withoutText,
  );
}

/** The five fields of "Delivery status record" (null while unknown), then our additions (absent while unknown). */
function statusRecord(message: MessageStatus): Shown<typeof DeliveryStatus> {
  const view = viewOf(message);
  return {
    message_id: message._id,
    to: message.to,
    status: shownState(message),
    delivered_at: message.deliveredAt === undefined ? null : isoTimestamp(message.deliveredAt),
    operator: view.operatorOf(message),
    reference: message.reference,
    error_code: message.errorCode,
    error_reason: message.errorReason,
    outcome: message.outcome,
    ...view.status(message),
    timeline: [
      ...(message.direction === 'in' ? [] : [{ status: 'queued' as const, at: isoTimestamp(idTime(message._id)) }]),
      ...message.history.map(({ state, at }) => ({ status: state, at: isoTimestamp(at) })),
    ],
  };
}

/**
 * The result of `readStored`. A message not stored yet, though its caller got the 200, is in the account's pending
 * changes or the queue. Places are read in the order in which messages move on.
 */
export async function readAccepted<T, Unstored = TextlessSms | TextlessChatMessage>(
  db: Db,
  account: AccountId,
  id: MessageId,
  readStored: () => Promise<T | undefined>,
  shown: (message: MessageDocument | ChatMessageDocument) => Unstored,
): Promise<T | Unstored | undefined> {
  const stored = await readStored();
  if (stored !== undefined) return stored;
  for (const { messages, chatMessages } of (await readPaid(db, account)).values()) {
    const paid = [...messages, ...chatMessages].find(({ _id }) => _id === id);
    if (paid !== undefined) return shown(paid);
  }
  const waiting = await findInQueue(db, account, id);
  return waiting === undefined ? readStored() : shown(waiting);
}

function withoutText(paid: MessageDocument | ChatMessageDocument): TextlessSms | TextlessChatMessage {
  if (paid.channel === 'chatapp') return { ...paid, content: shownContent(paid.content) };
  const { text: _, ...textless } = paid;
  return textless;
}

function shownContent(content: ChatContent): TextlessChatMessage['content'] {
  const { kind } = content;
  if (kind === 'template') return { kind, name: content.name, language: content.language };
  if (kind === 'reaction') return { kind, reactsTo: content.reactsTo };
  return 'type' in content ? { kind, type: content.type } : { kind };
}
