import type { ChatMessageDocument, InboundMessageDocument } from '../../shared/messages/chat-message.ts';

/** What a message of the chat-app channel has beyond the fields of every message. */
export type ChatFields = { readonly direction?: 'in' | 'out' } & Partial<
  Pick<ChatMessageDocument, 'conversation'> & Pick<InboundMessageDocument, 'from'>
>;

/** As every answer shows them; absent ones are left out. `from` is null where the provider did not tell it. */
export function chatFields({ direction, from, conversation }: ChatFields): object {
  return { channel: 'chatapp', direction, from, conversation_id: conversation };
}
