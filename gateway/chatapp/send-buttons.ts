import type { ChatButton } from '../../shared/messages/chat-message.ts';
import type { JsonObject } from '../http/context.ts';
import { type FieldProblems, refuseUnknown, wrongType } from '../http/fields.ts';
import type { ChatSend } from './send.ts';
import { requiredText } from './text-fields.ts';

const BODY_MAX = 1_024;
const BUTTONS_MAX = 3;
const BUTTONS_TOLD_MAX = 10;
const ID_MAX = 256;
const TITLE_MAX = 20;

/** POST /v2/chatapp/send-buttons: a text with one to three buttons to answer with, inside the session only. */
export function createSendButtons(): ChatSend {
  return {
    name: 'chatapp-send-buttons',
    fields: ['body', 'buttons'],
    async read({ body }, problems) {
      const text = requiredText(body, 'body', BODY_MAX, problems);
      const buttons = parseButtons(body, problems);
      const whole = text !== undefined && buttons !== undefined;
      return { content: whole ? { kind: 'buttons', body: text, buttons } : undefined };
    },
    result: ({ _id }) => ({ status: 'success', message_id: _id }),
  };
}

/** Undefined when there is no such list; bad entries of one are among the problems. */
function parseButtons(body: JsonObject, problems: FieldProblems): readonly ChatButton[] | undefined {
  if (!Object.hasOwn(body, 'buttons')) {
    problems.add('buttons', 'missing_field', 'It is required.');
    return undefined;
  }
  const list = body.buttons;
  if (!Array.isArray(list)) {
    problems.add('buttons', 'wrong_type', `It must be an array of objects, not ${wrongType(list)}.`);
    return undefined;
  }
  if (list.length < 1 || list.length > BUTTONS_MAX) {
    problems.add('buttons', 'wrong_count', `It has ${list.length} entries; 1 to ${BUTTONS_MAX} are allowed.`);
  }
  // Those too many are looked at as well, so that everything is told at once.
  const buttons = list
    .slice(0, BUTTONS_TOLD_MAX)
    .map((entry: unknown, index) => parseButton(entry, `buttons[${index}]`, problems));
  for (const name of ['title', 'id'] as const) {
    for (const [index, button] of buttons.entries()) {
      const first = buttons.findIndex((other) => button !== undefined && other?.[name] === button[name]);
      if (first === -1 || first === index) continue;
      problems.add(`buttons[${index}].${name}`, 'duplicate', `It is the same as that of buttons[${first}].`);
    }
  }
  return buttons.filter((button) => button !== undefined);
}

function parseButton(value: unknown, field: string, problems: FieldProblems): ChatButton | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.add(field, 'wrong_type', `It must be an object with \`id\` and \`title\`, not ${wrongType(value)}.`);
    return undefined;
  }
  const entry: JsonObject = { ...value };
  refuseUnknown(entry, ['id', 'title'], problems, `${field}.`);
  const id = requiredText(entry, 'id', ID_MAX, problems, `${field}.`);
  const title = requiredText(entry, 'title', TITLE_MAX, problems, `${field}.`);
  if (id !== undefined && id !== id.trim()) {
    problems.add(`${field}.id`, 'invalid_value', 'It must not begin or end with a space.');
  }
  return id === undefined || title === undefined ? undefined : { id, title };
}
