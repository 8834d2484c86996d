import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { MediaHeader, TemplateButton, TemplateHeader } from '../../../shared/templates/chat/chat-template.ts';
import type { TemplateDraft } from '../../../shared/templates/chat/template-request.ts';
import { variablesIn } from '../../../shared/templates/chat/variables.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import type { Values } from '../../http/fields/field.ts';
import { extensionProblem } from '../chatapp/media-format.ts';
import type { EDIT_CHAT_TEMPLATE } from './fields.ts';

type Given = Values<(typeof EDIT_CHAT_TEMPLATE)['fields']>;

const URL_BUTTONS_MAX = 2;

/**
 * The template that the fields describe. Adds to `problems` what the provider's review would refuse for its form (WhatsApp,
 * "Template components" and "Template review"), so that nobody waits a day for it. Pure.
 */
export function draftOf(given: Given, problems: FieldProblems): TemplateDraft {
  const { category, header, body, body_examples: examples, footer, buttons } = given;
  noteBody(body, examples, problems);
  if (footer !== undefined && variablesIn(footer).length > 0) {
    problems.add('footer', 'invalid_text', 'It must not have variables.');
  }
  noteHeader(header, problems);
  noteButtons(buttons, problems);
  return {
    category,
    components: {
      ...(header === undefined ? {} : { header: headerOf(header) }),
      body,
      ...defined({ footer }),
      buttons: buttons.map(buttonOf),
    },
    examples: {
      ...(header?.example === undefined ? {} : { header: header.example }),
      ...(header?.example_url === undefined ? {} : { headerUrl: header.example_url }),
      body: examples,
      buttons: buttons.map(({ example }) => example ?? null),
    },
  };
}

function noteBody(body: string, examples: readonly string[], problems: FieldProblems): void {
  const variables = variablesIn(body);
  const fault = variableFault(body);
  if (fault !== undefined) problems.add('body', 'invalid_text', fault);
  if (/^\s*\{\{/.test(body) || /\}\}[\s.,;:!?]*$/.test(body)) {
    problems.add('body', 'invalid_text', 'It must not begin or end with a variable.');
  }
  if (/\}\}\s*\{\{/.test(body)) problems.add('body', 'invalid_text', 'Variables must not stand side by side.');
  for (const [i, example] of examples.entries()) {
    if (example.trim() === '') problems.add(`body_examples[${i}]`, 'too_short', 'Give an example of its variable.');
  }
  if (variables.length !== examples.length) {
    problems.add(
      'body_examples',
      'wrong_count',
      `The body has ${variables.length} variables: give an example of each.`,
    );
  }
}

function variableFault(text: string): string | undefined {
  const numbers = variablesIn(text);
  const odd = /\{\{(?!\s*\d{1,3}\s*\}\})/.test(text) || numbers.some((number, i) => number !== String(i + 1));
  return odd ? 'Its variables must be {{1}}, {{2}} and so on.' : undefined;
}

function noteHeader(header: Given['header'], problems: FieldProblems): void {
  if (header === undefined) return;
  const { format, text, example, example_url: url } = header;
  if (format !== 'text') {
    if (text !== undefined) problems.add('header.text', 'conflict', `A header of ${format} has no text.`);
    if (example !== undefined) problems.add('header.example', 'conflict', `A header of ${format} has no variable.`);
  }
  if (format !== 'text' && format !== 'location') {
    noteSample(format, url, problems);
    return;
  }
  if (url !== undefined) problems.add('header.example_url', 'conflict', `A header of ${format} has no file.`);
  if (format === 'location') return;
  if (text === undefined) {
    problems.add('header.text', 'missing_field', 'A header of text needs it.');
    return;
  }
  const variables = variablesIn(text);
  const fault = variableFault(text);
  if (fault !== undefined) problems.add('header.text', 'invalid_text', fault);
  if (variables.length > 1) problems.add('header.text', 'wrong_count', 'It may have one variable.');
  if (variables.length > 0 && example === undefined) {
    problems.add('header.example', 'missing_field', 'Give an example of its variable.');
  }
}

function noteSample(format: MediaHeader, url: string | undefined, problems: FieldProblems): void {
  if (url === undefined) {
    problems.add(
      'header.example_url',
      'missing_field',
      `Give the https address of a sample ${format}, for the review.`,
    );
    return;
  }
  const extension = extensionProblem(format, url);
  if (extension !== undefined) problems.add('header.example_url', 'unsupported_media_type', extension);
}

function noteButtons(buttons: Given['buttons'], problems: FieldProblems): void {
  for (const [i, { type, text, url, phone_number: phone, example }] of buttons.entries()) {
    const field = `buttons[${i}]`;
    const needs = (member: string, value: string | undefined, for_: boolean): void => {
      if (for_ && value === undefined)
        problems.add(`${field}.${member}`, 'missing_field', `A ${type} button needs it.`);
      if (!for_ && value !== undefined) problems.add(`${field}.${member}`, 'conflict', `A ${type} button has none.`);
    };
    needs('text', text, type !== 'copy_code');
    needs('url', url, type === 'url');
    needs('phone_number', phone, type === 'phone_number');
    needs('example', example, type === 'copy_code' || (type === 'url' && variablesIn(url ?? '').length > 0));
    if (type === 'url' && url !== undefined) noteUrl(url, `${field}.url`, problems);
  }
  noteCounts(
    buttons.map(({ type }) => type),
    problems,
  );
}

function noteUrl(url: string, field: string, problems: FieldProblems): void {
  if (!/^https?:\/\/[^\s{}]+(\{\{1\}\})?$/.test(url)) {
    problems.add(field, 'invalid_value', 'It must be an http or https address, with at most {{1}} at its end.');
  }
}

function noteCounts(types: readonly string[], problems: FieldProblems): void {
  const count = (type: string): number => types.filter((one) => one === type).length;
  if (count('url') > URL_BUTTONS_MAX) problems.add('buttons', 'wrong_count', 'At most two may be url buttons.');
  for (const type of ['phone_number', 'copy_code']) {
    if (count(type) > 1) problems.add('buttons', 'wrong_count', `At most one may be a ${type} button.`);
  }
  // Counts changes between quick replies and other buttons. At most one: all quick replies come first, or all come last.
  const runs = types.filter((type, i) => (type === 'quick_reply') !== (types[i - 1] === 'quick_reply') && i > 0).length;
  if (runs > 1) problems.add('buttons', 'conflict', 'Quick replies must stand together.');
}

function headerOf({ format, text = '' }: NonNullable<Given['header']>): TemplateHeader {
  return format === 'text' ? { format, text } : { format };
}

function buttonOf({
  type,
  text = 'Copy code',
  url,
  phone_number: phoneNumber,
}: Given['buttons'][number]): TemplateButton {
  return {
    ...{ type, text },
    ...defined({ url, phoneNumber }),
  };
}
