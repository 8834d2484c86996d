import { type ChatButton, MEDIA_TYPES, type MediaType } from '../../../shared/messages/document/chat-message.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint } from '../../api/endpoint.ts';
import { id, success } from '../../api/shapes.ts';
import { type AddFault, choice, Fault, list, object, optional, required } from '../../http/fields/field.ts';
import { address } from '../../http/fields/public-url.ts';
import { type Rule, request } from '../../http/fields/request.ts';
import { EXTENSIONS, replyTo, text, to } from './fields.ts';
import { askOfFrame, FRAME, frameOf } from './frame.ts';
import { extensionProblem } from './media-format.ts';
import { type Asked, answerOr, ChatResult, chatSend, DRY_RUN_EXAMPLE, REFUSALS } from './send.ts';

/** The specification's sends that are allowed only while the session is open. */

/** How the description of each such send begins. */
export const FREE_FORM =
  "Only within 24 hours after the customer's last message. A refused request is neither stored nor charged.";

export const ChatAnswer = answerOr('ChatAnswer', 'ChatResult', ChatResult);
export const ANSWERS = {
  accepted: { status: 'success', message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz' },
  'dry run': DRY_RUN_EXAMPLE,
};

const TEXT = request({
  to,
  message: required(text({ description: 'The text.', maxLength: 4_096 })),
  reply_to: replyTo,
  ...EXTENSIONS,
});

export const chatappSendText = endpoint({
  id: 'chatappSendText',
  call: 'chatapp.sendText',
  method: 'post',
  path: '/v2/chatapp/send-text',
  tag: 'Chat-app',
  summary: 'Send a text',
  description: FREE_FORM,
  scopes: ['send'],
  test: 'apart',
  body: TEXT,
  ownProblems: true,
  answer: ChatAnswer,
  problems: ['session_closed', ...REFUSALS],
  examples: { body: { text: { to: '919876543210', message: 'Your parcel is on its way.' } }, answer: ANSWERS },
  newId: ({ clock }) => newId('msg', clock.now().getTime()),
  action: (deps) =>
    chatSend(deps, {
      order({ read }: Asked<typeof TEXT.fields>) {
        const { message, reply_to: answered } = read.given;
        return {
          read,
          replyTo: answered,
          content: message === undefined ? undefined : { kind: 'text', text: message },
        };
      },
      result: ({ _id }) => done({ message_id: _id }),
    }),
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

/** The provider fetches the file from `url`. */
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
      accepted: { ...ANSWERS.accepted, media_id: 'med_01m7znjn7hdb5pft3awkb6pgvz' },
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
        if (type === undefined || url === undefined) return { read, content: undefined };
        const content = { kind: 'media', type, url, ...(caption === undefined ? {} : { caption }) } as const;
        return {
          read,
          content,
          replyTo: answered,
          askNetwork: () => deps.mediaUrl.host(account, url, 'url', read.problems),
        };
      },
      // Spec gap: no endpoint takes a media_id. It derives from the message id, so a repeated answer has the same one.
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

/** A text with one to three reply buttons. */
export const chatappSendButtons = endpoint({
  id: 'chatappSendButtons',
  call: 'chatapp.sendButtons',
  method: 'post',
  path: '/v2/chatapp/send-buttons',
  tag: 'Chat-app',
  summary: 'Send a text with buttons',
  description: FREE_FORM,
  scopes: ['send'],
  test: 'apart',
  body: BUTTONS,
  ownProblems: true,
  answer: ChatAnswer,
  problems: ['session_closed', 'url_not_allowed', ...REFUSALS],
  examples: {
    body: {
      two: {
        to: '919876543210',
        body: 'Confirm?',
        buttons: [
          { id: 'yes', title: 'Yes' },
          { id: 'no', title: 'No' },
        ],
      },
    },
    answer: ANSWERS,
  },
  newId: ({ clock }) => newId('msg', clock.now().getTime()),
  action: (deps) =>
    chatSend(deps, {
      order({ caller, read }: Asked<typeof BUTTONS.fields>) {
        const { given, problems } = read;
        const account = caller.account._id;
        const frame = frameOf(given, account, deps.mediaUrl, problems);
        const { body, buttons, reply_to: answered } = given;
        if (body === undefined || buttons === undefined) return { read, content: undefined };
        const content = { kind: 'buttons', body, buttons, ...frame } as const;
        return { read, content, replyTo: answered, ...askOfFrame(frame, account, deps.mediaUrl, problems) };
      },
      result: ({ _id }) => done({ message_id: _id }),
    }),
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
