import { type Frame, type FrameHeader, fileNameOf } from '../../../shared/messages/document/chat-message.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { MEDIA_HEADERS } from '../../../shared/templates/chat/chat-template.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, object, optional, type Values } from '../../http/fields/field.ts';
import { address, type UrlCheck } from '../../http/fields/public-url.ts';
import { text } from './fields.ts';
import { extensionProblem } from './media-format.ts';

/** The extensions `header` and `footer` of messages with buttons, lists and the like. Limits: WhatsApp's, "Interactive messages". */

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

/** The frame of a message. Adds to `problems` what its header lacks, or has beyond its type. */
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

/** Looks up the host of a header's file, if it has one. */
export function askOfFrame(
  { header }: Frame,
  account: AccountId,
  urlCheck: UrlCheck,
  problems: FieldProblems,
): { readonly askNetwork?: () => Promise<void> } {
  if (header === undefined || header.kind === 'text') return {};
  return { askNetwork: () => urlCheck.host(account, header.url, 'header.url', problems) };
}
