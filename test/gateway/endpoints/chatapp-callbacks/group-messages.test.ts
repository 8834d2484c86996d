import assert from 'node:assert/strict';
import { expect } from 'chai';
import { eventBody } from '../../../../shared/events/catalogue.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { inboundMessage } from '../../../../workers/chatapp/inbox.ts';
import { callbackPost } from '../../../support/chat-callback.ts';
import { mergeParts, readAlone } from '../../../support/read-callback.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const PROVIDER = { _id: '918000000001', account: newId('acc'), phoneNumberId: '1055', businessId: '2055' } as const;
/** As the Groups API makes them. */
const GROUP = 'Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD';

describe('a message in a group', () => {
  for (const [what, body] of [
    ['as it came', 'hi all'],
    ['too large, and cut', 'x'.repeat(200_000)],
  ] as const) {
    it(`${what}: webhooks are told the group`, async () => {
      const message = { from: '919876543210', id: 'wamid.1', timestamp: '1795255190', group_id: GROUP };
      const post = callbackPost({ messages: [{ ...message, type: 'text', text: { body } }] });

      const { items } = mergeParts(await readAlone(post, PROVIDER, NOW));

      const item = items[0]?.what;
      assert(item?.kind === 'message');
      const received = inboundMessage(PROVIDER.account, item, NOW);
      const [entry] = received.history;
      assert(entry !== undefined);
      const event = JSON.parse(eventBody({ message: received, entry }));
      expect(event).to.include({ event: 'message.received', from: '919876543210', group_id: GROUP });
    });
  }
});
