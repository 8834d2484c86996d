import {
  type Frame,
  type FrameHeader,
  fileNameOf,
  type MediaType,
} from '../../../shared/messages/document/chat-message.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type AccountId, isMessageId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { MEDIA_HEADERS } from '../../../shared/templates/chat/chat-template.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, Fault, type Kind, object, optional, required, string, type Values } from '../../http/fields/field.ts';
import { dryRun, HALF_CHARACTER, hasHalfCharacter, recipient, reference } from '../../http/fields/message-fields.ts';
import { address, type UrlCheck } from '../../http/fields/public-url.ts';
import { validUntilFromNow } from '../../http/fields/times.ts';
import { fallback } from './fallback.ts';

export const to = required(recipient('chatapp'));
const from = optional(
  string(
    {
      description:
        "Extension. Which of the account's numbers it leaves from: digits, as `GET /v2/chatapp/numbers` lists them. Without it a template leaves from the default number, anything else from the number that the customer wrote to last.",
      maxLength: 64,
    },
    (given) => given,
  ),
);

export const EXTENSIONS = { from, reference, valid_until: validUntilFromNow, fallback, dry_run: dryRun };

export type ChatFields = { readonly to: typeof to } & typeof EXTENSIONS;

/** Not for templates: WhatsApp does not show a template as an answer. */
export const replyTo = optional(
  messageId(
    'Extension: the message of the conversation that this one answers, of the customer or your own. The customer sees it quoted.',
  ),
);

export function messageId(description: string): Kind<MessageId> {
  return string({ description, pattern: '^msg_[0-9a-z]{26}$' }, (given) =>
    isMessageId(given)
      ? given
      : new Fault('invalid_value', 'It must be the id of a message, as `message_id` shows it.'),
  );
}

interface TextLimits {
  readonly description: string;
  readonly maxLength: number;
  readonly trimmed?: true;
}

export function text({ description, maxLength, trimmed }: TextLimits): Kind<string> {
  const pattern = trimmed ? '^\\S(?:[\\s\\S]*\\S)?$' : '\\S';
  return string({ description, minLength: 1, maxLength, pattern }, (given) => {
    if (!/\S/u.test(given)) return new Fault('too_short', 'It must have at least one character that is not a space.');
    const count = characters(given);
    if (count > maxLength) {
      return new Fault('too_long', `It has ${count} characters; at most ${maxLength} are allowed.`);
    }
    if (trimmed && given !== given.trim()) {
      return new Fault('invalid_value', 'It must not begin or end with a space.');
    }
    return hasHalfCharacter(given) ? new Fault('invalid_text', HALF_CHARACTER) : given;
  });
}

/** Counts code points, as the provider does: `length` counts most emoji twice. */
export function characters(given: string): number {
  let count = 0;
  for (const _ of given) count++;
  return count;
}

/** Seven decimals (a centimetre), never in exponential form. */
export function degrees(value: number): string {
  return value.toFixed(7).replace(/\.?0+$/, '');
}

/** "Supported media types (chat-app)", as file extensions. All such providers want stickers as WebP. */
const FORMATS: Readonly<Record<MediaType, readonly string[]>> = {
  image: ['jpg', 'jpeg', 'png'],
  video: ['mp4'],
  audio: ['mp3', 'ogg'],
  document: ['pdf'],
  sticker: ['webp'],
};

/** Why a URL cannot be that of a file of this type. Without an extension it may be right. Pure. */
export function extensionProblem(type: MediaType, url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const [, extension] = /\.(?=[a-z0-9]*[a-z])([a-z0-9]{1,5})$/i.exec(new URL(url).pathname) ?? [];
  if (extension === undefined || FORMATS[type].includes(extension.toLowerCase())) return undefined;
  const formats = FORMATS[type].map((known) => `.${known}`).join(', ');
  return `"${type}" takes ${formats}, not .${extension}.`;
}

/** `header` and `footer` (extensions) of messages with buttons or lists. WhatsApp's limits ("Interactive messages"). */

const HEADER = {
  type: optional(choice(['text', ...MEDIA_HEADERS], 'What it is; `text` unless said.')),
  text: optional(text({ description: 'Of a text: what stands above the message, in bold.', maxLength: 60 })),
  url: optional(address('Of a file: where the provider fetches it: https, a public address.')),
  filename: optional(text({ description: 'Of a document: the name that the customer sees.', maxLength: 240 })),
};

export const FRAME = {
  header: optional(
    object(HEADER).meta({ description: 'Extension: what stands above it: a `text`, or a file by `type` and `url`.' }),
  ),
  footer: optional(text({ description: 'Extension: small text below it.', maxLength: 60 })),
};

type Given = Partial<Values<typeof FRAME>>;

/** Adds to `problems` what the header lacks for its type, or has beyond it. */
export function frameOf(
  { header, footer }: Given,
  account: AccountId,
  urlCheck: UrlCheck,
  problems: FieldProblems,
): Frame {
  return defined({ header: header && headerOf(header, account, urlCheck, problems), footer });
}

function headerOf(
  { type = 'text', text: words, url, filename }: NonNullable<Given['header']>,
  account: AccountId,
  urlCheck: UrlCheck,
  problems: FieldProblems,
): FrameHeader | undefined {
  const own = type === 'text' ? ['text'] : type === 'document' ? ['url', 'filename'] : ['url'];
  for (const [name, value] of Object.entries({ text: words, url, filename })) {
    if (value !== undefined && !own.includes(name)) {
      problems.add(`header.${name}`, 'conflict', `A header of type "${type}" has none.`);
    }
  }
  if (type === 'text') {
    if (words !== undefined) return { kind: type, text: words };
    problems.add('header.text', 'missing_field', 'A header of type "text" needs it.');
    return undefined;
  }
  if (url === undefined) {
    problems.add('header.url', 'missing_field', `A header of type "${type}" needs the address of its file.`);
    return undefined;
  }
  const wrong = extensionProblem(type, url);
  if (wrong !== undefined) problems.add('header.url', 'unsupported_media_type', wrong);
  urlCheck.form(account, url, 'header.url', problems);
  return type === 'document' ? { kind: type, url, filename: filename ?? fileNameOf(url) } : { kind: type, url };
}

export function askOfFrame(
  { header }: Frame,
  account: AccountId,
  urlCheck: UrlCheck,
  problems: FieldProblems,
): { readonly askNetwork?: () => Promise<void> } {
  if (header === undefined || header.kind === 'text') return {};
  return { askNetwork: () => urlCheck.host(account, header.url, 'header.url', problems) };
}
