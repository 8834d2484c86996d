import type { ChatButton } from '../../../shared/messages/chat-message.ts';
import { list, object, required } from '../../fields/field.ts';
import { readRequest, request } from '../../fields/request.ts';
import type { FieldProblems } from '../../http/fields.ts';
import { EXTENSIONS, text, to } from './fields.ts';
import type { ChatSend } from './send.ts';

const id = text({
  description: 'You get it back when the customer presses the button. No spaces at the beginning or end.',
  maxLength: 256,
  trimmed: true,
});
const title = text({ description: 'What the customer sees.', maxLength: 20 });

export const SEND_BUTTONS = request({
  to,
  body: required(text({ description: 'The text above the buttons.', maxLength: 1_024 })),
  buttons: required(
    list(
      object({ id: required(id), title: required(title) }),
      { description: 'One to three buttons. No two may have the same title or id.', minItems: 1, maxItems: 3 },
      refuseEqual,
    ),
  ),
  ...EXTENSIONS,
});

/** POST /v2/chatapp/send-buttons: a text with one to three reply buttons. Only while the session is open. */
export function createSendButtons(): ChatSend {
  return {
    name: 'chatapp-send-buttons',
    async order({ body, context }) {
      const read = await readRequest(SEND_BUTTONS, body, context);
      const { body: above, buttons } = read.given;
      if (above === undefined || buttons === undefined) return { read, content: undefined };
      return { read, content: { kind: 'buttons', body: above, buttons } };
    },
    result: ({ _id }) => ({ status: 'success', message_id: _id }),
  };
}

function refuseEqual(buttons: readonly (ChatButton | undefined)[], name: string, problems: FieldProblems): void {
  for (const member of ['title', 'id'] as const) {
    for (const [index, button] of buttons.entries()) {
      const first = buttons.findIndex((other) => button !== undefined && other?.[member] === button[member]);
      if (first === -1 || first === index) continue;
      problems.add(`${name}[${index}].${member}`, 'duplicate', `It is the same as that of ${name}[${first}].`);
    }
  }
}
