import { findProvider, providersOf } from '../../../shared/carriers/providers/store.ts';
import type { BusinessNumber, InboundMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { recordInbound } from '../../../shared/money/conversations/conversation.ts';
import { findCommitted } from '../../../shared/platform/mongo/find-one.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import {
  type AccountId,
  idDay,
  idTime,
  isTestAccount,
  liveAccountOf,
  type MessageId,
  newId,
} from '../../../shared/platform/runtime/ids.ts';
import { FileSlots } from '../../api/csv.ts';
import { done, endpoint, perProcess, refused } from '../../api/endpoint.ts';
import { success } from '../../api/shapes.ts';
import { boolean, required, withDefault } from '../../http/fields/field.ts';
import { recipient } from '../../http/fields/message-fields.ts';
import { request } from '../../http/fields/request.ts';
import { MessageId as MessageIdShape } from '../messages/shapes.ts';
import { postToProvider, providerPoster, readProviderAnswer } from '../providers/post-to-provider.ts';
import { messageId, text } from './fields.ts';
import { TEST_NUMBER } from './numbers.ts';
import { ChatResult, findChatMessage } from './send.ts';

/** A later typing indicator is of no use. */
const TIMEOUT_MS = 5_000;
/** Only a hanging provider causes this many. The gateway's connections are for sends. */
const AT_ONCE = { account: 16, process: 64 };
const RETRY_AFTER = ['Retry-After', '5'] as const;

const asker = perProcess((deps) => ({ poster: providerPoster(deps, TIMEOUT_MS), slots: new FileSlots(AT_ONCE) }));

/** Goes to the provider at once, bypassing the queue: it is no message, costs nothing, and may be repeated. */
export const chatappRead = endpoint({
  id: 'chatappRead',
  call: 'chatapp.markRead',
  method: 'post',
  path: '/v2/chatapp/read',
  tag: 'Chat-app',
  summary: 'Mark a message as read',
  description:
    'Extension. The customer sees that the message, and all before it, were read; with `typing` also that an answer is being written, until it comes, for 25 seconds at most. It costs nothing and needs no open session. The provider is asked while you wait.',
  scopes: ['send'],
  test: 'apart',
  body: request({
    message_id: required(messageId('A message from a customer, as `message.received` named it.')),
    typing: withDefault(boolean('Show that an answer is being written.'), false),
  }),
  answer: success('ReadResult', { message_id: MessageIdShape }),
  problems: [
    ...(['message_not_found', 'chatapp_not_configured', 'chatapp_stopped', 'not_marked_read'] as const),
    ...(['provider_unavailable', 'secret_unreadable'] as const),
  ],
  examples: { body: { typing: { message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz', typing: true } } },
  async handle(deps, { caller, body: { message_id: id, typing } }) {
    const { db } = deps;
    const account = caller.account._id;
    const message = await findChatMessage(db, account, id);
    if (message?.direction !== 'in') {
      return refused('message_not_found', { detail: 'The account received no chat-app message with this id.' });
    }
    if (isTestAccount(account)) return done({ message_id: id });
    const provider = await findProvider(db, message.number);
    if (provider?.account !== account) return refused('chatapp_not_configured');
    if (provider.stoppedReason !== undefined) return refused('chatapp_stopped', { headers: RETRY_AFTER });
    const { poster, slots } = asker(deps);
    const release = slots.take(account);
    if (typeof release === 'string') return refused('provider_unavailable', { headers: RETRY_AFTER });
    // "Mark messages as read" and "Typing indicators" of the Cloud API.
    const read = {
      ...{ messaging_product: 'whatsapp', status: 'read', message_id: message.upstreamId },
      ...(typing && { typing_indicator: { type: 'text' } }),
    };
    const answer = readProviderAnswer(await postToProvider(poster, deps, provider, read).finally(release));
    if (answer.ok) return done({ message_id: id });
    const { status = 503, words } = answer;
    if (status >= 500 || status === 429) return refused('provider_unavailable', { headers: RETRY_AFTER });
    return refused('not_marked_read', { detail: words });
  },
});

/**
 * A test's incoming message, which no provider posts. The session is opened first, as for real ones. The message is
 * `due` at once: the maintenance worker announces it (workers/maintenance/test-outcome.ts).
 */
export const chatappTestReceived = endpoint({
  id: 'chatappTestReceived',
  call: 'chatapp.testReceived',
  method: 'post',
  path: '/v2/chatapp/test-received',
  tag: 'Chat-app',
  summary: 'Let a customer write, in a test',
  description:
    'Extension, for test keys alone. The event `message.received` follows, and free-form messages to `from` are allowed for 24 hours. Counts as 5 requests.',
  scopes: ['send'],
  test: 'apart',
  costs: 5,
  body: request({
    from: required(recipient('chatapp')),
    body: required(text({ description: 'What the customer writes.', maxLength: 4_096 })),
  }),
  answer: ChatResult,
  problems: ['test_key_needed'],
  examples: { body: { text: { from: '919876543210', body: 'Where is my order?' } } },
  newId: ({ clock }) => newId('msg', clock.now().getTime()),
  action: ({ db }) => ({
    async act({ caller, body, told }, { id }) {
      const account = caller.account._id;
      if (!isTestAccount(account)) return refused('test_key_needed');
      const [own] = await providersOf(db, [liveAccountOf(account)]);
      const number = own?._id ?? TEST_NUMBER;
      const message = receivedTest(account, id, number, body);
      told.messageId = id;
      await recordInbound(db, [{ account, customer: body.from, number, at: message.validUntil }]);
      await insertNew(db, 'messages', [message]);
      return { kind: 'accepted', body: done({ message_id: id }) };
    },
    async recover(account, id) {
      const messages = db.collection<InboundMessageDocument>('messages');
      const found = await findCommitted(messages, { _id: id, account }, { _id: 1 });
      return found === null ? undefined : { kind: 'accepted', body: done({ message_id: id }) };
    },
  }),
});

function receivedTest(
  account: AccountId,
  _id: MessageId,
  number: BusinessNumber,
  { from, body }: { readonly from: string; readonly body: string },
): InboundMessageDocument {
  const at = idTime(_id);
  return {
    ...{ _id, channel: 'chatapp', direction: 'in', account, day: idDay(_id), from, to: number },
    ...{ upstreamId: `test.${_id}`, inbound: { type: 'text', body } },
    ...{ state: 'received', v: 0, due: at, tries: 0, validUntil: at, history: [] },
  };
}
