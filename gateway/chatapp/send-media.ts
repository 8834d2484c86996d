import { MEDIA_TYPES, type MediaType } from '../../shared/messages/chat-message.ts';
import type { JsonObject } from '../http/context.ts';
import { type FieldProblems, requiredString } from '../http/fields.ts';
import type { UrlCheck } from './public-url.ts';
import type { ChatSend } from './send.ts';
import { optionalText } from './text-fields.ts';

const CAPTION_MAX = 1_024;

/** "Supported media types (chat-app)", as files are named; stickers are WebP with every provider of this shape. */
const EXTENSIONS: Readonly<Record<MediaType, readonly string[]>> = {
  image: ['jpg', 'jpeg', 'png'],
  video: ['mp4'],
  audio: ['mp3', 'ogg'],
  document: ['pdf'],
  sticker: ['webp'],
};
/** Facts: chat-app. The provider refuses a caption here. */
const WITHOUT_CAPTION: readonly MediaType[] = ['audio', 'sticker'];

/** POST /v2/chatapp/send-media: a file that the provider fetches from `url`, inside the session only. */
export function createSendMedia(urlCheck: UrlCheck): ChatSend {
  return {
    name: 'chatapp-send-media',
    fields: ['type', 'url', 'caption'],
    async read({ body }, problems) {
      const type = parseType(body, problems);
      const url = requiredString(body, 'url', problems);
      if (url !== undefined) {
        if (type !== undefined) checkFormat(url, type, problems);
        urlCheck.form(url, 'url', problems);
      }
      const caption = optionalText(body, 'caption', CAPTION_MAX, problems);
      if (caption !== undefined && type !== undefined && WITHOUT_CAPTION.includes(type)) {
        problems.add('caption', 'conflict', `"${type}" takes no caption.`);
      }
      if (type === undefined || url === undefined) return { content: undefined };
      const content = { kind: 'media', type, url, ...(caption === undefined ? {} : { caption }) } as const;
      return { content, askNetwork: (found) => urlCheck.host(url, 'url', found) };
    },
    // Spec gap: nothing takes a media_id. It names the file of this message, so that it is known again when it is given twice.
    result: ({ _id }) => ({ status: 'success', message_id: _id, media_id: `med_${_id.slice('msg_'.length)}` }),
  };
}

function parseType(body: JsonObject, problems: FieldProblems): MediaType | undefined {
  const given = requiredString(body, 'type', problems);
  if (given === undefined) return undefined;
  const type = MEDIA_TYPES.find((known) => known === given);
  if (type === undefined) problems.add('type', 'invalid_value', `It must be one of ${MEDIA_TYPES.join(', ')}.`);
  return type;
}

/** Only an extension that is there can be wrong; without one the provider looks at the file itself. */
function checkFormat(url: string, type: MediaType, problems: FieldProblems): void {
  if (!URL.canParse(url)) return;
  const [, extension] = /\.(?=[a-z0-9]*[a-z])([a-z0-9]{1,5})$/i.exec(new URL(url).pathname) ?? [];
  if (extension === undefined || EXTENSIONS[type].includes(extension.toLowerCase())) return;
  const formats = EXTENSIONS[type].map((known) => `.${known}`).join(', ');
  problems.add('url', 'unsupported_media_type', `"${type}" takes ${formats}, not .${extension}.`);
}
