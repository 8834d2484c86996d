import type { Db } from 'mongodb';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { recordInbound } from '../../shared/money/conversations/store.ts';
import { type AccountId, idDay, inboundMessageId, type MessageId, newId } from '../../shared/platform/runtime/ids.ts';
import { makeMessage } from './make.ts';

interface Wrote {
  readonly customer: string;
  readonly body: string;
  /** Members of a message that is no text, as the provider posts them. */
  readonly message?: Readonly<Record<string, unknown>>;
  readonly minutesAgo?: number;
}

const MINUTE_MS = 60_000;

/** Stores a chat-app message that a customer wrote, with the session that it opens. Gives its id. */
export async function wrote(
  db: Db,
  account: AccountId,
  { customer, body, message: { type = 'text', ...more } = {}, minutesAgo = 0 }: Wrote,
): Promise<MessageId> {
  const at = new Date(Date.now() - minutesAgo * MINUTE_MS);
  const _id = inboundMessageId(account, newId('req'), at);
  const { text: _, sender: __, segments: ___, ...base } = makeMessage({ _id, account, state: 'received' });
  const own = {
    ...{ channel: 'chatapp', direction: 'in', from: customer, to: '918000000001' },
    ...{ upstreamId: _id, inbound: { type, body, more } },
  };
  const message = { ...base, day: idDay(_id), history: [{ state: 'received', at }], ...own };
  await db.collection<AnyMessage>('messages').insertOne(message as unknown as AnyMessage);
  await recordInbound(db, [{ account, customer, at }]);
  return _id;
}
