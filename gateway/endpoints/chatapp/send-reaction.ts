import { newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint } from '../../api/endpoint.ts';
import { Fault, required, string } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { findAnswered } from './answered.ts';
import { EXTENSIONS, messageId, to } from './fields.ts';
import { ANSWERS, ChatAnswer, FREE_FORM } from './free-form.ts';
import { type Asked, chatSend, REFUSALS } from './send.ts';

/** The longest, families of several people, have some 30. */
const EMOJI_MAX = 64;
/** A picture, a flag, or a key such as 1️⃣. */
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|[0-9#*]\ufe0f?\u20e3/u;
const SEGMENTER = new Intl.Segmenter();

/** Whether it is what people see as one character (Unicode Annex 29), and an emoji. */
function isOneEmoji(text: string): boolean {
  return text.length <= EMOJI_MAX && EMOJI.test(text) && [...SEGMENTER.segment(text)].length === 1;
}

const REACTION = request({
  to,
  message_id: required(messageId('The message of the conversation that is reacted to, of the customer or your own.')),
  emoji: required(
    string({ description: 'One emoji. An empty text takes the reaction back.', maxLength: EMOJI_MAX }, (given) =>
      given === '' || isOneEmoji(given) ? given : new Fault('invalid_value', 'It must be one emoji, or empty.'),
    ),
  ),
  ...EXTENSIONS,
});

/** WhatsApp tells of a reaction that it was sent, never that it was delivered or read ("Reaction messages"). */
export const chatappSendReaction = endpoint({
  id: 'chatappSendReaction',
  call: 'chatapp.sendReaction',
  method: 'post',
  path: '/v2/chatapp/send-reaction',
  tag: 'Chat-app',
  summary: 'React to a message',
  description: `Extension. ${FREE_FORM} Each reaction takes the place of the one before. It is a message like any other: it goes in the conversation that is paid for, or opens one. It ends as \`sent\`: the provider does not tell of its delivery.`,
  scopes: ['send'],
  test: 'apart',
  body: REACTION,
  ownProblems: true,
  answer: ChatAnswer,
  problems: ['session_closed', ...REFUSALS],
  examples: {
    body: { thumb: { to: '919876543210', message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz', emoji: '👍' } },
    answer: ANSWERS,
  },
  newId: ({ clock }) => newId('msg', clock.now().getTime()),
  action: (deps) =>
    chatSend(deps, {
      async order({ caller, read }: Asked<typeof REACTION.fields>, _provider, number) {
        const { to: customer, message_id: message, emoji } = read.given;
        if (customer === undefined || message === undefined || emoji === undefined || number === undefined) {
          return { read, content: undefined };
        }
        const account = caller.account._id;
        const reactsTo = await findAnswered(deps.db, account, customer, number, 'message_id', message, read.problems);
        return { read, content: reactsTo && { kind: 'reaction', emoji, reactsTo } };
      },
      result: ({ _id }) => done({ message_id: _id }),
    }),
});
