import { type ChatTemplate, isFile } from './chat-template.ts';

/** What a form for a chat-app template holds while one types. */
export interface ChatDraft {
  readonly category: string;
  readonly format: string;
  readonly header: string;
  readonly headerExample: string;
  readonly headerUrl: string;
  readonly body: string;
  readonly bodyExamples: readonly string[];
  readonly footer: string;
  readonly buttons: readonly ButtonDraft[];
}

export interface ButtonDraft {
  readonly type: string;
  readonly text: string;
  readonly url: string;
  readonly phone: string;
  readonly example: string;
}

export const NEW_BUTTON: ButtonDraft = { type: 'quick_reply', text: '', url: '', phone: '', example: '' };

export function draftOf(of: ChatTemplate | undefined): ChatDraft {
  return {
    category: of?.category ?? 'utility',
    format: of?.header?.format ?? '',
    header: of?.header?.text ?? '',
    headerExample: of?.examples?.header ?? '',
    headerUrl: of?.examples?.header_url ?? '',
    body: of?.body ?? '',
    bodyExamples: of?.examples?.body ?? [],
    footer: of?.footer ?? '',
    buttons: (of?.buttons ?? []).map(({ type, text, url, phone_number: phone }, i) => ({
      ...{ type, text, url: url ?? '', phone: phone ?? '' },
      example: of?.examples?.buttons[i] ?? '',
    })),
  };
}

/** As the gateway wants it: what is empty is left out. */
export function requestOf(draft: ChatDraft, variables: number): object {
  const { category, format, header, headerExample, headerUrl, body, bodyExamples, footer, buttons } = draft;
  return {
    ...{ category, body, body_examples: Array.from({ length: variables }, (_, i) => bodyExamples[i] ?? '') },
    ...(format !== '' && {
      header: {
        format,
        ...(format === 'text' && given({ text: header, example: headerExample })),
        ...(isFile(format) && given({ example_url: headerUrl })),
      },
    }),
    ...given({ footer }),
    buttons: buttons.map(({ type, text, url, phone, example }) => ({
      type,
      ...given({
        text: type === 'copy_code' ? '' : text,
        url: type === 'url' ? url : '',
        phone_number: type === 'phone_number' ? phone : '',
        example: type === 'copy_code' || (type === 'url' && url.includes('{{')) ? example : '',
      }),
    })),
  };
}

function given(members: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));
}
