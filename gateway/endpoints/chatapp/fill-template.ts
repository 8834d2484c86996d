import {
  type FilledButton,
  type FilledHeader,
  type FilledTemplate,
  type FilledVariable,
  fileNameOf,
} from '../../../shared/messages/document/chat-message.ts';
import type { TemplateButton, TemplateComponents } from '../../../shared/templates/chat/chat-template.ts';
import { isNumber, withValues } from '../../../shared/templates/chat/variables.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { characters, degrees } from './fields.ts';
import { type GivenProducts, productSection } from './products.ts';
import type { GivenButtons, GivenHeader } from './template-fields.ts';
import { describeParam, type TemplateParam } from './template-params.ts';
import {
  BODY_MAX,
  CARD_BODY_MAX,
  encodedSuffix,
  HEADER_MAX,
  OFFER_BODY_MAX,
  URL_MAX,
  valueFault,
} from './template-values.ts';

/** One entry of `params`, and the place that it fills. */
export interface Entry {
  readonly param: TemplateParam;
  readonly value: string;
  /** The entry's name in the request, such as `params[2]`. */
  readonly field: string;
}

/** The extensions of a request, or of one of its cards. */
interface Extras {
  readonly header?: GivenHeader;
  readonly buttons?: GivenButtons;
  readonly products?: GivenProducts;
}

/** Adds a problem for each value that does not fit, and for texts that become too long with their values. */
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

/** Checks the length of a text with its values. A text without values was approved by the provider, so it is not checked. */
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

/** The components with their values. Call it only for a request without problems. Pure. */
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

/** Whether this is what `params` alone say: the values of numbered variables in the body. */
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
  // The one-time password has the name of the body's variable. The button's variable has no name.
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
