import type { ChatSend } from './send.ts';
import { requiredText } from './text-fields.ts';

const TEXT_MAX = 4_096;

/** POST /v2/chatapp/send-text: a free-form text, inside the session only. */
export function createSendText(): ChatSend {
  return {
    name: 'chatapp-send-text',
    fields: ['message'],
    async read({ body }, problems) {
      const text = requiredText(body, 'message', TEXT_MAX, problems);
      return { content: text === undefined ? undefined : { kind: 'text', text } };
    },
    result: ({ _id }) => ({ status: 'success', message_id: _id }),
  };
}
