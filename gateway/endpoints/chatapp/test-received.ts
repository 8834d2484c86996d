import { providersOf } from '../../../shared/carriers/providers/store.ts';
import type { BusinessNumber, InboundMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { recordInbound } from '../../../shared/money/conversations/store.ts';
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
import { done, endpoint, refused } from '../../api/endpoint.ts';
import { required } from '../../http/fields/field.ts';
import { recipient } from '../../http/fields/message-fields.ts';
import { request } from '../../http/fields/request.ts';
import { refusedLate } from '../../http/idempotency/action.ts';
import { text } from './fields.ts';
import { TEST_NUMBER } from './numbers.ts';
import { ChatResult } from './send.ts';

/**
 * A customer writes, in a test: there is no provider that could say so. The session is opened first, as of real ones. The message is
 * `due` at once: the maintenance announces it (workers/maintenance/test-outcome.ts).
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
  action: ({ db, clock }) => ({
    async act({ caller, body, told }, { id, payBy }) {
      const account = caller.account._id;
      if (!isTestAccount(account)) return refused('test_key_needed');
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
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
