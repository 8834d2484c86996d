import { CHAT_CATEGORIES } from '../../../shared/templates/chat/template-request.ts';
import {
  choice,
  Fault,
  type Kind,
  list,
  object,
  optional,
  required,
  string,
  withDefault,
} from '../../http/fields/field.ts';
import { HALF_CHARACTER, hasHalfCharacter } from '../../http/fields/message-fields.ts';
import { address } from '../../http/fields/public-url.ts';
import { request } from '../../http/fields/request.ts';

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
const HEADERS = ['text', 'image', 'video', 'document', 'location'] as const;
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

const category = (more: string) =>
  required(choice(CHAT_CATEGORIES, `What it is for. ${more}The provider may put it into another category.`));

const CONTENT = {
  category: category(''),
  header: optional(header),
  body: required(text('Its text, with variables {{1}}, {{2}} … in it.', LIMITS.body)),
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
};

export const REQUEST_CHAT_TEMPLATE = request({ name: required(name), language: required(language), ...CONTENT });
/** An edit replaces everything but name and language. */
export const EDIT_CHAT_TEMPLATE = request({
  ...CONTENT,
  category: category('That of an approved template stays as it is. '),
});
