import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import type { InboxItemDocument, StatusItem } from '../../../shared/messages/chat-inbox.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { makeItem, makeStatus } from './make.ts';
import { type ChatAccount, chatWorld } from './world.ts';

/** A chat-app worker with an inbox. For the body of a `describe`. */
export function inboxWorld() {
  const world = chatWorld();

  /** A message that the provider has accepted as `wamid.<n>`. */
  async function sent(
    account: ChatAccount,
    n: number,
    overrides: Partial<ChatMessageDocument> = {},
  ): Promise<ChatMessageDocument> {
    const at = new Date();
    const [message] = await world.queue(account, {
      state: 'sent',
      claim: { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at },
      parts: [{ key: chatMessageKey(account.id, `wamid.${n}`), state: 'accepted' }],
      history: [{ state: 'sent', at }],
      ...overrides,
    });
    if (message === undefined) throw new Error('one was queued');
    return message;
  }

  function item({ id }: ChatAccount, status: Partial<StatusItem>, receivedAt?: Date): InboxItemDocument {
    return makeItem(id, makeStatus(status), receivedAt);
  }

  const due = () => world.store.db.collection('chat_inbox').countDocuments({ due: { $exists: true } });

  const workedOff = () => eventually(async () => (await due()) === 0, 'the inbox is worked off');

  return { world, sent, item, workedOff };
}
