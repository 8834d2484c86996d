import type { Db } from 'mongodb';
import type { InboundMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { recordInbound } from '../../shared/money/conversations/conversation.ts';
import { type AccountId, idDay, inboundMessageId, type MessageId, newId } from '../../shared/platform/runtime/ids.ts';
import { NUMBER } from './chatapp.ts';

interface Wrote {
  readonly customer: string;
  readonly body: string;
  /** Members of a message that is not text, as the provider posts them. */
  readonly message?: Readonly<Record<string, unknown>>;
  readonly minutesAgo?: number;
}

const MINUTE_MS = 60_000;

/** Stores a customer's chat-app message with the session that it opens. Returns its id. */
export async function wrote(
  db: Db,
  account: AccountId,
  { customer, body, message: { type = 'text', ...more } = {}, minutesAgo = 0 }: Wrote,
): Promise<MessageId> {
  const at = new Date(Date.now() - minutesAgo * MINUTE_MS);
  const _id = inboundMessageId(account, newId('req'), at);
  await db.collection<InboundMessageDocument>('messages').insertOne({
    ...{ _id, day: idDay(_id), account, channel: 'chatapp', direction: 'in', state: 'received', v: 0, tries: 0 },
    ...{ from: customer, to: NUMBER, upstreamId: _id, validUntil: at, history: [{ state: 'received', at }] },
    inbound: { type: String(type), body, more },
  });
  await recordInbound(db, [{ account, customer, number: NUMBER, at }]);
  return _id;
}
