import { MEDIA_TYPES, type MediaType } from '../../../shared/messages/chat-message.ts';
import { choice, optional, required } from '../../fields/field.ts';
import { address, type UrlCheck } from '../../fields/public-url.ts';
import { type Rule, readRequest, request } from '../../fields/request.ts';
import { EXTENSIONS, text, to } from './fields.ts';
import { extensionProblem } from './media-format.ts';
import type { ChatSend } from './send.ts';

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

export const SEND_MEDIA = request({ to, ...MEDIA_FIELDS, ...EXTENSIONS }, [], [extensionFitsType, captionFitsType]);

/** POST /v2/chatapp/send-media: a file that the provider fetches from `url`. Only while the session is open. */
export function createSendMedia(urlCheck: UrlCheck): ChatSend {
  return {
    name: 'chatapp-send-media',
    async order({ account, body, context }) {
      const read = await readRequest(SEND_MEDIA, body, context);
      const { type, url, caption } = read.given;
      if (url !== undefined) urlCheck.form(account, url, 'url', read.problems);
      if (type === undefined || url === undefined) return { read, content: undefined };
      const content = { kind: 'media', type, url, ...(caption === undefined ? {} : { caption }) } as const;
      return { read, content, askNetwork: () => urlCheck.host(account, url, 'url', read.problems) };
    },
    // Spec gap: no endpoint takes a media_id. It derives from the message id, so a repeated answer has the same one.
    result: ({ _id }) => ({ status: 'success', message_id: _id, media_id: `med_${_id.slice('msg_'.length)}` }),
  };
}
