import {
  type FilledButton,
  type FilledHeader,
  type FilledTemplate,
  type FilledVariable,
  fileNameOf,
} from '../../../shared/messages/document/chat-message.ts';
import {
  isNumber,
  type TemplateButton,
  type TemplateComponents,
  type TemplateHeader,
  withValues,
} from '../../../shared/templates/chat/chat-template.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { list, number, object, optional, required, type Values, withDefault } from '../../http/fields/field.ts';
import { address } from '../../http/fields/public-url.ts';
import { laterTime } from '../../http/fields/times.ts';
import { characters, degrees, text } from './fields.ts';
import { type GivenProducts, productId, productSection, products } from './products.ts';
import {
  BODY_MAX,
  CARD_BODY_MAX,
  describeParam,
  encodedSuffix,
  HEADER_MAX,
  OFFER_BODY_MAX,
  PARAMS_MAX,
  type TemplateParam,
  URL_MAX,
  valueFault,
} from './template-params.ts';

/** A template send's extensions, and their checks against the template. */

const HEADER_FIELDS = {
  url: optional(
    address(
      'Image, video or document: where the provider fetches the file. Then the first of `params` is not the file.',
    ),
  ),
  filename: optional(text({ description: 'Document: the name that the customer sees.', maxLength: 240 })),
  latitude: optional(number({ description: 'Location: degrees north.', minimum: -90, maximum: 90 })),
  longitude: optional(number({ description: 'Location: degrees east.', minimum: -180, maximum: 180 })),
  name: optional(text({ description: 'Location: name of the place.', maxLength: 1_024 })),
  address: optional(text({ description: 'Location: its address.', maxLength: 1_024 })),
};
export type GivenHeader = Values<typeof HEADER_FIELDS>;

/** Twilio's limit for approved templates. Other sources give 256. */
const PAYLOAD_MAX = 128;
const BUTTONS_MAX = 10;

const QUICK_REPLY = object({
  payload: required(
    text({ description: 'You get it back when the customer presses the button.', maxLength: PAYLOAD_MAX }),
  ),
});
type GivenButtons = readonly { readonly payload: string }[];

const CARDS_MAX = 10;
const CARD = {
  params: withDefault(
    list(text({ description: 'A value.', maxLength: 2_048 }), {
      ...{ description: 'Values of the card, in its order: file, body, url suffixes.', maxItems: PARAMS_MAX },
    }),
    [],
  ),
  buttons: optional(
    list(QUICK_REPLY, { description: 'Payloads of its quick replies.', minItems: 1, maxItems: BUTTONS_MAX }),
  ),
  product_id: optional(productId('Of a product card: which product of the catalog.')),
};
export type GivenCard = Values<typeof CARD>;

const HEADER_DESCRIPTION =
  'Extension: for a template with a location in its header: `latitude`, `longitude`, `name` and `address`. With a file: its `url`, in place of the first of `params`; with a document also its `filename`.';

export const TEMPLATE_EXTENSIONS = {
  header: optional(object(HEADER_FIELDS).meta({ description: HEADER_DESCRIPTION })),
  buttons: optional(
    list(QUICK_REPLY, {
      description:
        'Extension: the payloads of the quick replies, one for each, in order. Without them a payload is the label of its button.',
      minItems: 1,
      maxItems: BUTTONS_MAX,
    }),
  ),
  offer_expires_at: optional(laterTime('Extension: when a limited-time offer ends; it is counted down.')),
  products,
  cards: optional(
    list(object(CARD), {
      description: 'Extension: the values of the cards of a carousel, one entry for each, in order.',
      minItems: 1,
      maxItems: CARDS_MAX,
    }),
  ),
};

type HeaderField = keyof typeof HEADER_FIELDS;
const TAKEN: Readonly<Record<TemplateHeader['format'], readonly HeaderField[]>> = {
  text: [],
  image: ['url'],
  video: ['url'],
  document: ['url', 'filename'],
  location: ['latitude', 'longitude', 'name', 'address'],
  product: [],
};

/** Adds a problem for each member of `header` that the template needs but is missing, or does not take. */
export function checkHeader(
  given: GivenHeader | undefined,
  { header: own }: TemplateComponents,
  problems: FieldProblems,
): void {
  const taken = own === undefined ? [] : TAKEN[own.format];
  const names = taken.map((name) => `\`${name}\``).join(', ');
  if (given === undefined) {
    if (own?.format === 'location') {
      problems.add('header', 'missing_field', `The template has a location in its header: give ${names}.`);
    }
    return;
  }
  const has =
    own === undefined ? 'no header' : own.format === 'text' ? 'a text' : `${ARTICLE[own.format]} ${own.format}`;
  const place = own === undefined ? `The template has ${has}` : `The template has ${has} in its header`;
  if (taken.length === 0) {
    const instead = own?.format === 'product' ? 'it is given in `products`' : 'the values of a text are in `params`';
    problems.add('header', 'conflict', `${place}. Leave \`header\` out; ${instead}.`);
    return;
  }
  for (const name of Object.keys(given)) {
    if (taken.some((one) => one === name)) continue;
    problems.add(`header.${name}`, 'conflict', `${place}, which takes ${names} only.`);
  }
  if (own?.format !== 'location') return;
  for (const name of taken.filter((one) => given[one] === undefined)) {
    problems.add(`header.${name}`, 'missing_field', `${place}, which needs ${names}.`);
  }
}

const ARTICLE = { image: 'an', video: 'a', document: 'a', location: 'a', product: 'a' } as const;

/** Requires one payload for each quick reply, or none at all. */
export function checkButtons(
  given: GivenButtons | undefined,
  { buttons }: TemplateComponents,
  problems: FieldProblems,
): void {
  const replies = buttons.filter(({ type }) => type === 'quick_reply');
  if (given === undefined || given.length === replies.length) return;
  if (replies.length === 0) {
    problems.add('buttons', 'conflict', 'The template has no quick replies. Leave `buttons` out.');
    return;
  }
  const labels = replies.map(({ text: label }) => `"${label}"`).join(', ');
  const detail = `The template has ${replies.length} quick replies, in order ${labels}; ${given.length} payloads are given.`;
  problems.add('buttons', 'wrong_count', detail);
}

/** Requires `offer_expires_at` exactly where the template shows a limited-time offer. */
export function checkOffer(given: Date | undefined, { offer }: TemplateComponents, problems: FieldProblems): void {
  const shows = offer?.expires === true;
  if (shows && given === undefined) {
    problems.add('offer_expires_at', 'missing_field', 'The template has an offer that ends: say when.');
  }
  if (!shows && given !== undefined) {
    problems.add('offer_expires_at', 'conflict', 'The template has no offer that ends. Leave it out.');
  }
}

export interface Entry {
  readonly param: TemplateParam;
  readonly value: string;
  /** The entry's name in the request: `params[2]`. */
  readonly field: string;
}

/** Of a request, or of one of its cards. */
interface Extras {
  readonly header?: GivenHeader;
  readonly buttons?: GivenButtons;
  readonly products?: GivenProducts;
}

/** Adds a problem for each value that does not fit, and for texts that become too long. */
export function checkValues(
  entries: readonly Entry[],
  components: TemplateComponents,
  problems: FieldProblems,
  inCard = false,
): void {
  const before = problems.count;
  for (const { param, value, field } of entries) {
    const fault = valueFault(param, value);
    if (fault === undefined) continue;
    problems.add(field, fault.code, `This is ${describeParam(param, components)}. ${fault.detail}`);
  }
  if (problems.count > before) return;
  const { header, body = '', buttons, offer } = components;
  const inHeader = entries.filter(({ param }) => param.fills === 'header');
  if (header?.format === 'text') checkLength('header', header.text, inHeader, HEADER_MAX, problems);
  const most = inCard ? CARD_BODY_MAX : offer === undefined ? BODY_MAX : OFFER_BODY_MAX;
  checkLength('body', body, entries.filter(isInBody), most, problems);
  for (const [index, { url = '' }] of buttons.entries()) {
    const suffix = entries.filter(({ param }) => param.fills === 'url' && param.button === index);
    checkLength(`address of button ${index}`, url, suffix, URL_MAX, problems);
  }
}

/** A text without values was approved by the provider, so it is not checked. */
function checkLength(
  what: string,
  text: string,
  entries: readonly Entry[],
  most: number,
  problems: FieldProblems,
): void {
  const [first, second] = entries;
  if (first === undefined) return;
  const values = new Map(entries.map(({ param, value }) => [variableOf(param), valueSent(param, value)]));
  const count = characters(withValues(text, values));
  if (count <= most) return;
  const [field, them] = second === undefined ? [first.field, 'it'] : ['params', 'them'];
  problems.add(field, 'too_long', `With ${them} the ${what} has ${count} characters; at most ${most} are allowed.`);
}

/** Call it only for a request without problems. Pure. */
export function fillTemplate(
  entries: readonly Entry[],
  components: TemplateComponents,
  { header: given, buttons: payloads = [], products }: Extras,
): FilledTemplate {
  const header = filledHeader(entries, components, given, products);
  const body = entries.filter(isInBody).map(filledVariable);
  const replies = [...payloads];
  const buttons = components.buttons.flatMap((button, index) =>
    filledButton(
      button,
      index,
      entries,
      button.type === 'quick_reply' ? replies.shift()?.payload : undefined,
      products,
    ),
  );
  return {
    ...(header === undefined ? {} : { header }),
    ...(body.length === 0 ? {} : { body }),
    ...(buttons.length === 0 ? {} : { buttons }),
  };
}

/** Whether only numbered variables of the body are filled, which `params` alone can say. */
export function saysParamsOnly({ body = [], ...others }: FilledTemplate): boolean {
  return Object.keys(others).length === 0 && body.every(({ name }) => name === undefined);
}

function filledHeader(
  entries: readonly Entry[],
  { header }: TemplateComponents,
  given: GivenHeader | undefined,
  products: GivenProducts | undefined,
): FilledHeader | undefined {
  if (header === undefined) return undefined;
  if (header.format === 'text') {
    const variables = entries.filter(({ param }) => param.fills === 'header').map(filledVariable);
    return variables.length === 0 ? undefined : { kind: 'text', variables };
  }
  if (header.format === 'product') {
    return { kind: 'product', catalog: products?.catalog_id ?? '', product: products?.product_id ?? '' };
  }
  if (header.format === 'location') {
    const { latitude = 0, longitude = 0, name = '', address = '' } = given ?? {};
    return { kind: 'location', latitude: degrees(latitude), longitude: degrees(longitude), name, address };
  }
  const url = given?.url ?? entries.find(({ param }) => param.fills === 'media')?.value ?? '';
  if (header.format !== 'document') return { kind: header.format, url };
  return { kind: 'document', url, filename: given?.filename ?? fileNameOf(url) };
}

function filledButton(
  { type }: TemplateButton,
  index: number,
  entries: readonly Entry[],
  payload: string | undefined,
  { product_id: product, sections = [] }: GivenProducts = {},
): readonly FilledButton[] {
  if (type === 'catalog') return product === undefined ? [] : [{ index, kind: type, product }];
  if (type === 'mpm') return [{ index, kind: type, product: product ?? '', sections: sections.map(productSection) }];
  if (type === 'flow') return [{ index, kind: 'flow' }];
  if (payload !== undefined) return [{ index, kind: 'quick_reply', payload }];
  const entry = entries.find(({ param }) => 'button' in param && param.button === index);
  if (entry === undefined) return [];
  if (entry.param.fills === 'coupon') return [{ index, kind: 'copy_code', code: entry.value }];
  // The one-time password has the name of the body's variable; the button's variable has none.
  const suffix = entry.param.fills === 'otp' ? { text: entry.value } : filledVariable(entry);
  return [{ index, kind: 'url', suffix }];
}

function filledVariable({ param, value }: Entry): FilledVariable {
  const variable = variableOf(param);
  const text = valueSent(param, value);
  return isNumber(variable) ? { text } : { text, name: variable };
}

function isInBody({ param }: Entry): boolean {
  return param.fills === 'body' || param.fills === 'otp';
}

function variableOf(param: TemplateParam): string {
  return 'variable' in param ? param.variable : '';
}

function valueSent({ fills }: TemplateParam, value: string): string {
  return fills === 'url' ? encodedSuffix(value) : value;
}
