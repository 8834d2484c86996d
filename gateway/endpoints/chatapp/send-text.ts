import { required } from '../../fields/field.ts';
import { readRequest, request } from '../../fields/request.ts';
import { EXTENSIONS, text, to } from './fields.ts';
import type { ChatSend } from './send.ts';

export const SEND_TEXT = request({
  to,
  message: required(text({ description: 'The text.', maxLength: 4_096 })),
  ...EXTENSIONS,
});

/** POST /v2/chatapp/send-text: a free-form text. Only while the session is open. */
export function createSendText(): ChatSend {
  return {
    name: 'chatapp-send-text',
    async order({ body, context }) {
      const read = await readRequest(SEND_TEXT, body, context);
      const { message } = read.given;
      return { read, content: message === undefined ? undefined : { kind: 'text', text: message } };
    },
    result: ({ _id }) => ({ status: 'success', message_id: _id }),
  };
}
