import {
  type BusinessNumber,
  type ChatButton,
  MEDIA_TYPES,
  type MediaType,
} from '../../../shared/messages/document/chat-message.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { done, type Endpoint, type Examples, endpoint, type Gateway } from '../../api/endpoint.ts';
import { id, success } from '../../api/shapes.ts';
import {
  type AddFault,
  choice,
  Fault,
  type Fields,
  list,
  object,
  optional,
  required,
  string,
} from '../../http/fields/field.ts';
import { address } from '../../http/fields/public-url.ts';
import { type RequestTable, type Rule, request } from '../../http/fields/request.ts';
import {
  askOfFrame,
  type ChatFields,
  EXTENSIONS,
  extensionProblem,
  FRAME,
  frameOf,
  messageId,
  replyTo,
  text,
  to,
} from './fields.ts';
import {
  type Asked,
  answerOr,
  type ChatOrder,
  ChatResult,
  chatSend,
  DRY_RUN_EXAMPLE,
  findAnswered,
  REFUSALS,
} from './send.ts';

/** Sends that need an open session: the specification's, and reactions. */

export const FREE_FORM =
  "Only within 24 hours after the customer's last message. A refused request is neither stored nor charged.";

const ChatAnswer = answerOr('ChatAnswer', 'ChatResult', ChatResult);
const ACCEPTED = { status: 'success', message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz' };

interface FreeForm<Body extends Fields & ChatFields>
  extends Pick<Endpoint, 'id' | 'call' | 'path' | 'summary' | 'description' | 'problems'> {
  readonly body: RequestTable<Body>;
  readonly examples: Examples;
  order(asked: Asked<Body>, deps: Gateway, number: BusinessNumber | undefined): Promise<ChatOrder> | ChatOrder;
}

export function freeForm<Body extends Fields & ChatFields>({ order, problems = [], examples, ...own }: FreeForm<Body>) {
  return endpoint({
    method: 'post',
    tag: 'Chat-app',
    description: `Extension. ${FREE_FORM}`,
    scopes: ['send'],
    test: 'apart',
    ownProblems: true,
    answer: ChatAnswer,
    ...own,
    problems: ['session_closed', ...problems, ...REFUSALS],
    examples: { body: examples, answer: { accepted: ACCEPTED, 'dry run': DRY_RUN_EXAMPLE } },
    newId: ({ clock }) => newId('msg', clock.now().getTime()),
    action: (deps) =>
      chatSend<Body>(deps, {
        order: (asked, _provider, number) => order(asked, deps, number),
        result: ({ _id }) => done({ message_id: _id }),
      }),
  });
}

const TEXT = request({
  to,
  message: required(text({ description: 'The text.', maxLength: 4_096 })),
  reply_to: replyTo,
  ...EXTENSIONS,
});

export const chatappSendText = freeForm({
  id: 'chatappSendText',
  call: 'chatapp.sendText',
  path: '/v2/chatapp/send-text',
  summary: 'Send a text',
  description: FREE_FORM,
  body: TEXT,
  examples: { text: { to: '919876543210', message: 'Your parcel is on its way.' } },
  order({ read }) {
    const { message, reply_to: answered } = read.given;
    return { replyTo: answered, content: message === undefined ? undefined : { kind: 'text', text: message } };
  },
});

/** The provider refuses captions of these types (WhatsApp Cloud API, "Audio messages" and "Sticker messages"). */
const WITHOUT_CAPTION: readonly MediaType[] = ['audio', 'sticker'];

const MEDIA_FIELDS = {
  type: required(
    choice(
      MEDIA_TYPES,
      'Kind of file: image (JPEG, PNG), video (MP4), audio (MP3, OGG), document (PDF), sticker (WebP).',
    ),
  ),
  url: required(
    address(
      'Where the provider fetches the file: https, a public address. A file extension must fit the type; without one the provider decides. A host name that we cannot resolve is accepted, because the provider may know it. If the provider cannot fetch the file, the message fails, and its status says so.',
    ),
  ),
  caption: optional(text({ description: 'Not for audio and sticker.', maxLength: 1_024 })),
};

const extensionFitsType: Rule<typeof MEDIA_FIELDS> = ({ type, url }, _has, problems) => {
  const detail = type === undefined || url === undefined ? undefined : extensionProblem(type, url);
  if (detail !== undefined) problems.add('url', 'unsupported_media_type', detail);
};

const captionFitsType: Rule<typeof MEDIA_FIELDS> = ({ type, caption }, _has, problems) => {
  if (caption === undefined || type === undefined || !WITHOUT_CAPTION.includes(type)) return;
  problems.add('caption', 'conflict', `"${type}" takes no caption.`);
};

const MEDIA = request(
  { to, ...MEDIA_FIELDS, reply_to: replyTo, ...EXTENSIONS },
  [],
  [extensionFitsType, captionFitsType],
);

export const chatappSendMedia = endpoint({
  id: 'chatappSendMedia',
  call: 'chatapp.sendMedia',
  method: 'post',
  path: '/v2/chatapp/send-media',
  tag: 'Chat-app',
  summary: 'Send a file',
  description: FREE_FORM,
  scopes: ['send'],
  test: 'apart',
  body: MEDIA,
  ownProblems: true,
  answer: answerOr(
    'ChatMediaAnswer',
    'ChatMediaResult',
    success('ChatMediaResult', 'A message with a file was accepted.', {
      message_id: ChatResult.shape.message_id,
      media_id: id('med', 'Names the file of this message.', 'med_01m7znjn7hdb5pft3awkb6pgvz'),
    }),
  ),
  problems: ['session_closed', 'url_not_allowed', ...REFUSALS],
  examples: {
    body: {
      image: { to: '919876543210', type: 'image', url: 'https://example.com/invoice.png', caption: 'Invoice' },
    },
    answer: {
      accepted: { ...ACCEPTED, media_id: 'med_01m7znjn7hdb5pft3awkb6pgvz' },
      'dry run': DRY_RUN_EXAMPLE,
    },
  },
  newId: ({ clock }) => newId('msg', clock.now().getTime()),
  action: (deps) =>
    chatSend(deps, {
      order({ caller, read }: Asked<typeof MEDIA.fields>) {
        const account = caller.account._id;
        const { type, url, caption, reply_to: answered } = read.given;
        if (url !== undefined) deps.mediaUrl.form(account, url, 'url', read.problems);
        if (type === undefined || url === undefined) return { content: undefined };
        const content = { kind: 'media', type, url, ...(caption === undefined ? {} : { caption }) } as const;
        return { content, replyTo: answered, askNetwork: () => deps.mediaUrl.host(account, url, 'url', read.problems) };
      },
      // Spec gap: no endpoint takes a media_id. It derives from the message id, so repeated answers have the same one.
      result: ({ _id }) => done({ message_id: _id, media_id: `med_${_id.slice('msg_'.length)}` }),
    }),
});

const buttonId = text({
  description: 'You get it back when the customer presses the button. No spaces at the beginning or end.',
  maxLength: 256,
  trimmed: true,
});
const title = text({ description: 'What the customer sees.', maxLength: 20 });

const BUTTONS = request({
  to,
  body: required(text({ description: 'The text above the buttons.', maxLength: 1_024 })),
  buttons: required(
    list(
      object({ id: required(buttonId), title: required(title) }),
      { description: 'One to three buttons. No two may have the same title or id.', minItems: 1, maxItems: 3 },
      refuseEqual,
    ),
  ),
  ...FRAME,
  reply_to: replyTo,
  ...EXTENSIONS,
});

export const chatappSendButtons = freeForm({
  id: 'chatappSendButtons',
  call: 'chatapp.sendButtons',
  path: '/v2/chatapp/send-buttons',
  summary: 'Send a text with buttons',
  description: FREE_FORM,
  body: BUTTONS,
  problems: ['url_not_allowed'],
  examples: {
    two: {
      to: '919876543210',
      body: 'Confirm?',
      buttons: [
        { id: 'yes', title: 'Yes' },
        { id: 'no', title: 'No' },
      ],
    },
  },
  order({ caller, read: { given, problems } }, { mediaUrl }) {
    const account = caller.account._id;
    const frame = frameOf(given, account, mediaUrl, problems);
    const { body, buttons, reply_to: answered } = given;
    if (body === undefined || buttons === undefined) return { content: undefined };
    const content = { kind: 'buttons', body, buttons, ...frame } as const;
    return { content, replyTo: answered, ...askOfFrame(frame, account, mediaUrl, problems) };
  },
});

function refuseEqual(buttons: readonly (ChatButton | undefined)[], add: AddFault): void {
  for (const member of ['title', 'id'] as const) {
    for (const [index, button] of buttons.entries()) {
      const first = buttons.findIndex((other) => button !== undefined && other?.[member] === button[member]);
      if (first === -1 || first === index) continue;
      add(index, member, new Fault('duplicate', `It is the same as that of buttons[${first}].`));
    }
  }
}

/** The longest emojis, families of several people, have some 30 code units. */
const EMOJI_MAX = 64;
/** A picture, a flag, or a key such as 1️⃣. */
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|[0-9#*]\ufe0f?\u20e3/u;
const SEGMENTER = new Intl.Segmenter();

/** One user-perceived character (Unicode Annex 29) that is an emoji. */
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

/** WhatsApp reports that a reaction was sent, never that it was delivered or read ("Reaction messages"). */
export const chatappSendReaction = freeForm({
  id: 'chatappSendReaction',
  call: 'chatapp.sendReaction',
  path: '/v2/chatapp/send-reaction',
  summary: 'React to a message',
  description: `Extension. ${FREE_FORM} Each reaction takes the place of the one before. It is a message like any other: it goes in the conversation that is paid for, or opens one. It ends as \`sent\`: the provider does not tell of its delivery.`,
  body: REACTION,
  examples: { thumb: { to: '919876543210', message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz', emoji: '👍' } },
  async order({ caller, read }, { db }, number) {
    const { to: customer, message_id: message, emoji } = read.given;
    if (customer === undefined || message === undefined || emoji === undefined || number === undefined) {
      return { content: undefined };
    }
    const account = caller.account._id;
    const reactsTo = await findAnswered(db, account, customer, number, 'message_id', message, read.problems);
    return { content: reactsTo && { kind: 'reaction', emoji, reactsTo } };
  },
});
