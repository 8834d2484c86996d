import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { MediaHeader, TemplateButton, TemplateHeader } from '../../../shared/templates/chat/chat-template.ts';
import { CHAT_CATEGORIES, CODE_TYPES, type TemplateDraft } from '../../../shared/templates/chat/template-request.ts';
import { variablesIn } from '../../../shared/templates/chat/variables.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import {
  boolean,
  choice,
  Fault,
  type Kind,
  list,
  number,
  object,
  optional,
  required,
  string,
  type Values,
  withDefault,
} from '../../http/fields/field.ts';
import { HALF_CHARACTER, hasHalfCharacter } from '../../http/fields/message-fields.ts';
import { address, type UrlCheck } from '../../http/fields/public-url.ts';
import { request } from '../../http/fields/request.ts';
import { extensionProblem } from '../chatapp/media-format.ts';
import { templatesOfNumber } from '../chatapp/numbers.ts';

/** What an account says of a chat-app template that it wants, and the template that it describes. */

/** WhatsApp's limits ("Template components"); its documentation counts characters and does not say which. */
const LIMITS = {
  name: 512,
  header: 60,
  body: 1_024,
  footer: 60,
  label: 25,
  url: 2_000,
  phone: 20,
  code: 15,
  example: 500,
};
export const HEADERS = ['text', 'image', 'video', 'document', 'location'] as const;
const BUTTONS = ['quick_reply', 'url', 'phone_number', 'copy_code'] as const;

function text(description: string, maxLength: number): Kind<string> {
  return string({ description, minLength: 1, maxLength }, (value) => {
    if (value.trim() === '') return new Fault('too_short', 'It must have at least one character. Or leave it out.');
    if ([...value].length > maxLength) return new Fault('too_long', `It may have at most ${maxLength} characters.`);
    return hasHalfCharacter(value) ? new Fault('invalid_text', HALF_CHARACTER) : value;
  });
}

const example = optional(text('An example of the value of its variable, for the review.', LIMITS.example));

const name = string(
  { description: 'Its name: small letters, digits and _.', pattern: '^[a-z0-9_]{1,512}$' },
  (value) =>
    /^[a-z0-9_]{1,512}$/.test(value)
      ? value
      : new Fault('invalid_value', 'It must be 1 to 512 small letters, digits and _.'),
);

const language = string(
  { description: 'Its language as WhatsApp writes it: `en`, `en_US`, `hi`.', pattern: '^[a-z]{2,3}(_[A-Z]{2})?$' },
  (value) =>
    /^[a-z]{2,3}(_[A-Z]{2})?$/.test(value)
      ? value
      : new Fault('invalid_value', 'It must be a language like en, or with a country like en_US.'),
);

const header = object({
  format: required(choice(HEADERS, 'What it is. The file itself is given with each message.')),
  text: optional(text('Of a text: at most 60 characters, with at most one variable.', LIMITS.header)),
  example,
  example_url: optional(
    address(
      'Of image, video and document: where a sample file for the review is, a public https address. Harkara reads it once and hands it to the provider: JPEG or PNG up to 5 MB, MP4 up to 16 MB, PDF up to 16 MB. If that fails, the template is rejected with the reason.',
    ),
  ),
});

const button = object({
  type: required(choice(BUTTONS, 'What a press does.')),
  text: optional(text('Its label. A copy_code button has a label of its own.', LIMITS.label)),
  url: optional(text('Of url: the address, perhaps with {{1}} at its end.', LIMITS.url)),
  phone_number: optional(
    string(
      { description: 'Of phone_number: digits, country code first.', pattern: '^\\+?[1-9][0-9]{6,18}$' },
      (value) =>
        /^\+?[1-9][0-9]{6,18}$/.test(value)
          ? value
          : new Fault('invalid_phone', 'It must be digits, country code first.'),
    ),
  ),
  example: optional(text('Of url with a variable, and of copy_code: an example of the value.', LIMITS.example)),
});

const count = (description: string, minimum: number, maximum: number) =>
  optional(
    number({ type: 'integer', description, minimum, maximum }, (value) =>
      Number.isInteger(value) ? undefined : new Fault('invalid_value', 'It must be a whole number.'),
    ),
  );

/** WhatsApp's limits ("Authentication templates"). */
const code = object({
  type: required(
    choice(
      CODE_TYPES,
      '`copy_code`: the customer copies it. `one_tap`: a button hands it to your Android app. `zero_tap`: the app gets it without a press. Where that is not possible, a button copies it.',
    ),
  ),
  security_advice: withDefault(boolean('Adds: for your security, do not share this code.'), true),
  expires_minutes: count('After how many minutes the code does not hold any more; stands below it.', 1, 90),
  button_text: optional(text('Label of the button that copies it, in place of WhatsApp’s.', LIMITS.label)),
  autofill_text: optional(text('Of one_tap and zero_tap: label of the button that hands it on.', LIMITS.label)),
  apps: optional(
    list(
      object({
        package_name: required(matching('Its package name.', /^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/, 224)),
        signature_hash: required(matching('Its hash: 11 characters.', /^[A-Za-z0-9+/]{11}$/, 11)),
      }),
      { description: 'Of one_tap and zero_tap: your Android apps.', minItems: 1, maxItems: 5 },
    ),
  ),
  terms_accepted: withDefault(boolean('Of zero_tap: you accept WhatsApp’s terms of it. Must be true.'), false),
  ttl_seconds: count('After how many seconds the provider gives up to deliver it.', 30, 900),
});

function matching(description: string, form: RegExp, maxLength: number): Kind<string> {
  return string({ description, pattern: form.source, maxLength }, (value) =>
    form.test(value) && value.length <= maxLength
      ? value
      : new Fault('invalid_value', `It must match ${form.source} and have at most ${maxLength} characters.`),
  );
}

const category = (more: string) =>
  required(choice(CHAT_CATEGORIES, `What it is for. ${more}The provider may put it into another category.`));

const CONTENT = {
  category: category(''),
  header: optional(header),
  body: optional(
    text(
      'Its text, with variables {{1}}, {{2}} … in it. Needed, but for authentication: its text is WhatsApp’s.',
      LIMITS.body,
    ),
  ),
  body_examples: withDefault(
    list(
      // An empty one is reported with what is wrong with the text.
      string({ maxLength: LIMITS.example }, (value) =>
        [...value].length > LIMITS.example
          ? new Fault('too_long', `It may have at most ${LIMITS.example} characters.`)
          : value,
      ),
      {
        description: 'An example of the value of each variable of the body, in their order, for the review.',
        maxItems: 100,
      },
    ),
    [],
  ),
  footer: optional(text('Small text below it, without variables.', LIMITS.footer)),
  buttons: withDefault(list(button, { description: 'At most 10. Quick replies stand together.', maxItems: 10 }), []),
  code: optional(
    code.meta({ description: 'Of authentication, in place of all texts and buttons: how the code gets into the app.' }),
  ),
};

export const REQUEST_CHAT_TEMPLATE = request({
  name: required(name),
  language: required(language),
  from: templatesOfNumber,
  ...CONTENT,
});
/** An edit replaces everything but name, language and business account. */
export const EDIT_CHAT_TEMPLATE = request({
  ...CONTENT,
  category: category('That of an approved template stays as it is. '),
});

type Given = Values<(typeof EDIT_CHAT_TEMPLATE)['fields']>;

const URL_BUTTONS_MAX = 2;

/**
 * The template that the fields describe. Adds to `problems` what the provider's review would refuse for its form (WhatsApp,
 * "Template components" and "Template review"), so that nobody waits a day for it. Pure.
 */
export function draftOf(given: Given, problems: FieldProblems): TemplateDraft {
  const { category, header, body = '', body_examples: examples, footer, buttons } = given;
  if (category === 'authentication') return codeDraft(given, problems);
  if (given.code !== undefined) problems.add('code', 'conflict', 'Only authentication templates have it.');
  if (given.body === undefined) problems.add('body', 'missing_field', 'It is required.');
  else noteBody(body, examples, problems);
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

/** An authentication template: its texts are WhatsApp's, so there is nothing but the code. */
function codeDraft(given: Given, problems: FieldProblems): TemplateDraft {
  const { header, body, body_examples: examples, footer, buttons, code: asked } = given;
  const others = { header, body, footer, buttons: buttons[0], body_examples: examples[0] };
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined) problems.add(name, 'conflict', 'Authentication templates have texts of WhatsApp’s own.');
  }
  if (asked === undefined) problems.add('code', 'missing_field', 'Authentication templates need it.');
  const { type = 'copy_code', apps, autofill_text: autofillText, terms_accepted: accepted = false } = asked ?? {};
  if (type === 'copy_code') {
    for (const [name, value] of Object.entries({ apps, autofill_text: autofillText })) {
      if (value !== undefined) problems.add(`code.${name}`, 'conflict', 'A code to copy goes into no app.');
    }
  } else if (apps === undefined) {
    problems.add('code.apps', 'missing_field', `"${type}" needs your Android apps.`);
  }
  if (type === 'zero_tap' && !accepted) {
    problems.add('code.terms_accepted', 'missing_field', 'WhatsApp takes zero_tap only from who accepts its terms.');
  }
  const { security_advice: securityAdvice = true, expires_minutes: expiresMinutes } = asked ?? {};
  const { button_text: buttonText, ttl_seconds: ttlSeconds } = asked ?? {};
  return {
    category: 'authentication',
    components: { buttons: [{ type: 'otp', text: buttonText ?? 'Copy code' }] },
    examples: { body: [], buttons: [null] },
    code: {
      ...{ type, securityAdvice },
      ...defined({ expiresMinutes, buttonText, autofillText, apps, ttlSeconds }),
      ...(type === 'zero_tap' && { termsAccepted: true }),
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

const FIELD = 'header.example_url';

/**
 * Checks the sample file of a header: that the provider can take one at all, and that we may fetch it, by the rules of webhooks'
 * addresses, because we connect to it ourselves.
 */
export async function checkSample(
  account: AccountId,
  { components, examples: { headerUrl } }: TemplateDraft,
  provider: Pick<ProviderDocument, 'appId'> | undefined,
  urlCheck: UrlCheck,
  problems: FieldProblems,
): Promise<void> {
  if (headerUrl === undefined) return;
  if (provider !== undefined && provider.appId === undefined) {
    const format = components.header?.format;
    problems.add(
      'header.format',
      'invalid_value',
      `A template with a header of ${format} needs the id of the provider’s app, which is not set. Ask your service provider to set it (\`provider set --app-id\`), or ask for the template in the provider’s console; when it is approved, it is listed here and can be sent.`,
    );
    return;
  }
  if (urlCheck.form(account, headerUrl, FIELD, problems)) await urlCheck.host(account, headerUrl, FIELD, problems);
}
