import { CHAT_CATEGORIES, CODE_TYPES } from '../../../shared/templates/chat/chat-template.ts';
import {
  boolean,
  choice,
  Fault,
  type Kind,
  list,
  matching,
  number,
  object,
  optional,
  required,
  string,
  type Values,
  withDefault,
} from '../../http/fields/field.ts';
import { HALF_CHARACTER, hasHalfCharacter } from '../../http/fields/message-fields.ts';
import { address } from '../../http/fields/public-url.ts';
import { request } from '../../http/fields/request.ts';
import { templatesOfNumber } from '../chatapp/numbers.ts';

/** WhatsApp's limits ("Template components"), in characters; its documentation does not say which kind. */
export const LIMITS = {
  name: 512,
  header: 60,
  body: 1_024,
  footer: 60,
  label: 25,
  url: 2_000,
  phone: 20,
  code: 15,
  example: 500,
  offer: 16,
  /** With a limited-time offer, and on a card ("Limited-time offer templates", "Media card carousel templates"). */
  offerBody: 600,
  cardBody: 160,
};
export const HEADERS = ['text', 'image', 'video', 'document', 'location', 'product'] as const;
const BUTTONS = ['quick_reply', 'url', 'phone_number', 'copy_code', 'catalog', 'mpm', 'spm'] as const;
/** Buttons whose labels the provider sets. */
export const OWN_LABELS: Readonly<Record<string, string>> = {
  ...{ copy_code: 'Copy code', catalog: 'View catalog', mpm: 'View items', spm: 'View' },
};

function text(description: string, maxLength: number): Kind<string> {
  return string({ description, minLength: 1, maxLength }, (value) => {
    if (value.trim() === '') return new Fault('too_short', 'It must have at least one character. Or leave it out.');
    if ([...value].length > maxLength) return new Fault('too_long', `It may have at most ${maxLength} characters.`);
    return hasHalfCharacter(value) ? new Fault('invalid_text', HALF_CHARACTER) : value;
  });
}

const example = optional(text('An example of the value of its variable, for the review.', LIMITS.example));

const name = matching(
  'Its name: small letters, digits and _.',
  /^[a-z0-9_]{1,512}$/,
  '1 to 512 small letters, digits and _',
);

const language = matching(
  'Its language as WhatsApp writes it: `en`, `en_US`, `hi`.',
  /^[a-z]{2,3}(_[A-Z]{2})?$/,
  'a language like en, or with a country like en_US',
);

const header = object({
  format: required(choice(HEADERS, 'What it is. The file itself, or the `product`, is given with each message.')),
  text: optional(text('Of a text: at most 60 characters, with at most one variable.', LIMITS.header)),
  example,
  example_url: optional(
    address(
      'Of image, video and document: where a sample file for the review is, a public https address. Harkara reads it once and hands it to the provider: JPEG or PNG up to 5 MB, MP4 up to 16 MB, PDF up to 16 MB. If that fails, the template is rejected with the reason.',
    ),
  ),
});

const button = object({
  type: required(
    choice(
      BUTTONS,
      'What a press does. `catalog`, `mpm` and `spm` show your catalog, some of its products, and the one of the header; they stand alone.',
    ),
  ),
  text: optional(text('Its label. copy_code, catalog, mpm and spm have labels of their own.', LIMITS.label)),
  url: optional(text('Of url: the address, perhaps with {{1}} at its end.', LIMITS.url)),
  phone_number: optional(
    matching(
      'Of phone_number: digits, country code first.',
      /^\+?[1-9][0-9]{6,18}$/,
      'digits, country code first',
      'invalid_phone',
    ),
  ),
  example: optional(text('Of url with a variable, and of copy_code: an example of the value.', LIMITS.example)),
});

const count = (description: string, minimum: number, maximum: number) =>
  optional(number({ type: 'integer', description, minimum, maximum }));

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
        package_name: required(
          matching(
            'Its package name.',
            /^(?=.{1,224}$)[A-Za-z]\w*(\.[A-Za-z]\w*)+$/,
            'at most 224 characters like com.example.shop',
          ),
        ),
        signature_hash: required(matching('Its hash.', /^[A-Za-z0-9+/]{11}$/, '11 characters of base64')),
      }),
      { description: 'Of one_tap and zero_tap: your Android apps.', minItems: 1, maxItems: 5 },
    ),
  ),
  terms_accepted: withDefault(boolean('Of zero_tap: you accept WhatsApp’s terms of it. Must be true.'), false),
  ttl_seconds: count('After how many seconds the provider gives up to deliver it.', 30, 900),
});

const category = (more: string) =>
  required(choice(CHAT_CATEGORIES, `What it is for. ${more}The provider may put it into another category.`));

const bodyExamples = withDefault(
  list(
    // An empty example is reported with the problems of the text.
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
);

const card = object({
  header: required(header),
  body: optional(text('Its text, with variables.', LIMITS.cardBody)),
  body_examples: bodyExamples,
  buttons: required(
    list(button, { description: 'One or two: quick_reply, url, phone_number, spm.', minItems: 1, maxItems: 2 }),
  ),
});

const CONTENT = {
  category: category(''),
  header: optional(header),
  body: optional(
    text(
      'Its text, with variables {{1}}, {{2}} … in it. Needed, but for authentication: its text is WhatsApp’s.',
      LIMITS.body,
    ),
  ),
  body_examples: bodyExamples,
  footer: optional(text('Small text below it, without variables.', LIMITS.footer)),
  buttons: withDefault(list(button, { description: 'At most 10. Quick replies stand together.', maxItems: 10 }), []),
  offer: optional(
    object(
      {
        text: required(text('What it is.', LIMITS.offer)),
        expires: withDefault(
          boolean('Each message says when, in `offer_expires_at`, and has a copy_code button.'),
          true,
        ),
      },
      'Of marketing: a limited-time offer. Its header is an image or a video; its buttons are copy_code, then url.',
    ),
  ),
  cards: optional(
    list(card, {
      description:
        'Of marketing: a carousel, below the body. All cards are alike: image, video or product, and the same types of buttons.',
      minItems: 2,
      maxItems: 10,
    }),
  ),
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
/** An edit replaces all but name, language and business account. */
export const EDIT_CHAT_TEMPLATE = request({
  ...CONTENT,
  category: category('That of an approved template cannot be changed. '),
});

export type Given = Values<(typeof EDIT_CHAT_TEMPLATE)['fields']>;
