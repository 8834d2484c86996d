import type { MediaType } from '../../../shared/messages/chat-message.ts';

/**
 * "Supported media types (chat-app)", as file extensions. Stickers are WebP with every provider of this API's shape.
 */
const FORMATS: Readonly<Record<MediaType, readonly string[]>> = {
  image: ['jpg', 'jpeg', 'png'],
  video: ['mp4'],
  audio: ['mp3', 'ogg'],
  document: ['pdf'],
  sticker: ['webp'],
};

/**
 * The reason why an address cannot be that of a file of this type. An address without an extension may be right, because the
 * provider looks at the file itself. Undefined also for a malformed address, because that is another problem. Pure.
 */
export function extensionProblem(type: MediaType, url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const [, extension] = /\.(?=[a-z0-9]*[a-z])([a-z0-9]{1,5})$/i.exec(new URL(url).pathname) ?? [];
  if (extension === undefined || FORMATS[type].includes(extension.toLowerCase())) return undefined;
  const formats = FORMATS[type].map((known) => `.${known}`).join(', ');
  return `"${type}" takes ${formats}, not .${extension}.`;
}
