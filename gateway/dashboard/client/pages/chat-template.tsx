import type { EntryOf } from '../../../api/endpoint.ts';
import type { ownChatTemplates } from '../../../endpoints/chat-templates/templates.ts';
import type { Tone } from '../parts/value.tsx';

export type ChatTemplate = EntryOf<typeof ownChatTemplates>;

export const CHAT_TEMPLATES_PATH = '/v2/account/chatapp/templates';

const WORDS: Readonly<Record<string, readonly [words: string, tone: Tone]>> = {
  requested: ['Being handed in', 'info'],
  pending: ['In review', 'info'],
  in_appeal: ['In appeal', 'info'],
  approved: ['Approved', 'good'],
  rejected: ['Rejected', 'bad'],
  paused: ['Paused', 'warn'],
  disabled: ['Disabled', 'bad'],
  deleted: ['Deleted by the provider', 'bad'],
};

export function wordsOf(state: string): readonly [words: string, tone: Tone] {
  return WORDS[state] ?? [state.replaceAll('_', ' '), 'plain'];
}

/** Header formats that are a file. Each message brings its own; the review needs a sample. */
const FILES: readonly string[] = ['image', 'video', 'document'];

export function isFile(format: string): boolean {
  return FILES.includes(format);
}

/** The preview's text for a file (its name, if the URL has one) or a location. */
export function placeholderOf(format: string, url = ''): string {
  const name = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : '';
  return name ? `[${format}: ${name}]` : `[${format}]`;
}

export const CHAT_STATES = Object.entries(WORDS).map(([state, [words]]) => [state, words] as const);
export const QUALITY: Readonly<Record<string, readonly [words: string, tone: Tone]>> = {
  green: ['high', 'good'],
  yellow: ['medium', 'warn'],
  red: ['low', 'bad'],
};

export const EDITABLE: readonly string[] = ['approved', 'rejected', 'paused', 'requested'];

export const LANGUAGES = [
  ['en', 'English (en)'],
  ['en_US', 'English, US (en_US)'],
  ['en_GB', 'English, UK (en_GB)'],
  ['hi', 'Hindi (hi)'],
  ['bn', 'Bengali (bn)'],
  ['gu', 'Gujarati (gu)'],
  ['kn', 'Kannada (kn)'],
  ['ml', 'Malayalam (ml)'],
  ['mr', 'Marathi (mr)'],
  ['pa', 'Punjabi (pa)'],
  ['ta', 'Tamil (ta)'],
  ['te', 'Telugu (te)'],
  ['ur', 'Urdu (ur)'],
] as const;

/** Ascending. */
export function variablesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\{\{\s*(\d+)\s*\}\}/g)].map(([, digits = '']) => digits))].sort(
    (a, b) => Number(a) - Number(b),
  );
}

export function filled(text: string, examples: readonly string[]): string {
  return text.replaceAll(/\{\{\s*(\d+)\s*\}\}/g, (place, digits: string) => examples[Number(digits) - 1] || place);
}

/** Whether the form has a field for each part of the template: saving would lose the others. */
export function isOfTheForm({ category, header, buttons, offer, cards }: ChatTemplate): boolean {
  return (
    category !== 'authentication' &&
    offer === null &&
    cards === null &&
    header?.format !== 'product' &&
    buttons.every(({ type }) => FORM_BUTTONS.includes(type))
  );
}

const FORM_BUTTONS = ['quick_reply', 'url', 'phone_number', 'copy_code'];

interface PhoneProps {
  readonly title: string;
  readonly header?: string | undefined;
  readonly body: string;
  readonly footer?: string | undefined;
  readonly buttons?: readonly string[];
}

/** A rough preview of the message. */
export function Phone({ title, header = '', body, footer = '', buttons = [] }: PhoneProps) {
  return (
    <figure class="phone">
      <figcaption>{title} preview</figcaption>
      <div class="bubble">
        {header !== '' && <strong>{header}</strong>}
        <p>{body === '' ? '…' : body}</p>
        {footer !== '' && <small>{footer}</small>}
      </div>
      {buttons.map((label, i) => (
        <div class="bubble-button" key={i}>
          {label === '' ? '…' : label}
        </div>
      ))}
    </figure>
  );
}
