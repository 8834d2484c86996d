import {
  type ChatTemplateDocument,
  type MediaHeader,
  type TemplateButton,
  type TemplateComponents,
  variablesIn,
} from '../../../shared/templates/chat/chat-template.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { Fault } from '../../http/fields/field.ts';
import { characters } from './fields.ts';

/** The place that one entry of `params` fills. Buttons are counted from 0, as the provider does. */
export type TemplateParam =
  | { readonly fills: 'header'; readonly variable: string }
  /** The entry is a file's URL. */
  | { readonly fills: 'media'; readonly format: MediaHeader }
  | { readonly fills: 'body'; readonly variable: string }
  | { readonly fills: 'url'; readonly button: number; readonly variable: string }
  | { readonly fills: 'coupon'; readonly button: number }
  /** A one-time password is given once and sent in both body and button. */
  | { readonly fills: 'otp'; readonly button: number; readonly variable: string };

type Template = Pick<ChatTemplateDocument, 'components'>;

/**
 * The entries of `params` that a template takes, in its order: header, body, buttons. The footer, quick replies and
 * phone numbers take none, nor do locations and products, which have no single value. Each card of a carousel has its
 * own `params`. Pure.
 */
export function paramsOf({ components }: Template): readonly TemplateParam[] {
  const body = variablesIn(components.body ?? '');
  const code = codeIn(components);
  const params: readonly TemplateParam[] = [
    ...headerParams(components),
    ...(code === undefined ? body.map((variable) => ({ fills: 'body', variable }) as const) : [code]),
  ];
  const inButtons = components.buttons.flatMap((button, index) => {
    return index === code?.button ? [] : buttonParams(button, index);
  });
  return [...params, ...inButtons];
}

function headerParams({ header }: TemplateComponents): readonly TemplateParam[] {
  if (header === undefined || header.format === 'location' || header.format === 'product') return [];
  if (header.format !== 'text') return [{ fills: 'media', format: header.format }];
  return variablesIn(header.text).map((variable) => ({ fills: 'header', variable }));
}

/** One variable in the body, and one button with the same code (WhatsApp, "Authentication templates"). */
function codeIn({ body = '', buttons }: TemplateComponents): Extract<TemplateParam, { fills: 'otp' }> | undefined {
  const [variable, more] = variablesIn(body);
  const button = buttons.findIndex(({ type }) => type === 'otp');
  return variable === undefined || more !== undefined || button === -1 ? undefined : { fills: 'otp', button, variable };
}

function buttonParams({ type, url = '' }: TemplateButton, button: number): readonly TemplateParam[] {
  if (type === 'copy_code') return [{ fills: 'coupon', button }];
  // The URL behind a one-time password may be hidden; the button still has a variable.
  const variables = type === 'otp' && url === '' ? ['1'] : variablesIn(url);
  return variables.map((variable) => ({ fills: 'url', button, variable }));
}

/** For people: `the url suffix of button 1 ("Track")`. Pure. */
export function describeParam(param: TemplateParam, components: TemplateComponents): string {
  const label = (index: number): string => {
    const text = components.buttons[index]?.text ?? '';
    return text === '' ? `button ${index}` : `button ${index} ("${text}")`;
  };
  switch (param.fills) {
    case 'header':
      return `header {{${param.variable}}}`;
    case 'media':
      return `the https address of the ${param.format} in the header`;
    case 'body':
      return `body {{${param.variable}}}`;
    case 'url':
      return `the url suffix of ${label(param.button)}`;
    case 'coupon':
      return `the code that ${label(param.button)} copies`;
    case 'otp':
      return `the one-time password, for body {{${param.variable}}} and ${label(param.button)}`;
  }
}

const LISTED_MAX = 20;

export const PARAMS_MAX = 250;

/** What the entries of `params` fill. `mediaGiven`: `header.url` has the file, so no entry does. Pure. */
export function wantedParams(components: TemplateComponents, mediaGiven: boolean): readonly TemplateParam[] {
  const all = paramsOf({ components });
  return mediaGiven ? all.filter(({ fills }) => fills !== 'media') : all;
}

/**
 * Whether the count of `params` is right. Bad entries count too. No list, or a far too long one, was reported before.
 */
export function checkCount(
  params: unknown,
  wanted: readonly TemplateParam[],
  components: TemplateComponents,
  problems: FieldProblems,
): boolean {
  const given = params === undefined ? [] : params;
  if (!Array.isArray(given) || given.length > PARAMS_MAX) return false;
  if (given.length === wanted.length) return true;
  const takes = wanted.length === 0 ? 'takes no params' : `takes ${wanted.length}, in order`;
  const detail = `The template ${takes}; ${given.length} are given.${positions(wanted, components)}`;
  problems.add('params', 'wrong_count', detail);
  return false;
}

function positions(wanted: readonly TemplateParam[], components: TemplateComponents): string {
  if (wanted.length === 0) return '';
  const listed = wanted.slice(0, LISTED_MAX).map((param, i) => `params[${i}]: ${describeParam(param, components)}`);
  const more = wanted.length > LISTED_MAX ? `; and ${wanted.length - LISTED_MAX} more` : '';
  return ` ${listed.join('; ')}${more}.`;
}

/** WhatsApp's limits, in characters ("Template components", "Coupon code templates", "Authentication templates"). */
export const HEADER_MAX = 60;
export const BODY_MAX = 1_024;
/** On a card ("Media card carousel templates"), and beside a limited-time offer. */
export const CARD_BODY_MAX = 160;
export const OFFER_BODY_MAX = 600;
export const URL_MAX = 2_000;
const COUPON_MAX = 15;
const CODE_MAX = 15;

/** Why a variable cannot have this value. fill-template.ts checks the length with the text around it. Pure. */
export function valueFault(param: TemplateParam, value: string): Fault | undefined {
  switch (param.fills) {
    // URLs are checked by http/fields/public-url.ts, which needs the operator's settings.
    case 'media':
      return undefined;
    case 'header':
      return tooLong(value, HEADER_MAX) ?? brokenLine(value);
    case 'body':
      return tooLong(value, BODY_MAX) ?? brokenLine(value);
    case 'url':
      return tooLong(encodedSuffix(value), URL_MAX) ?? brokenLine(value);
    case 'coupon':
      return /^[A-Za-z0-9]*$/.test(value)
        ? tooLong(value, COUPON_MAX)
        : new Fault('invalid_text', 'It may have letters A to Z and digits only.');
    case 'otp':
      return tooLong(value, CODE_MAX) ?? brokenLine(value) ?? notACode(value);
  }
}

function tooLong(value: string, most: number): Fault | undefined {
  const count = characters(value);
  return count <= most ? undefined : new Fault('too_long', `It has ${count} characters; at most ${most} are allowed.`);
}

/** The provider refuses such values (132018). */
function brokenLine(value: string): Fault | undefined {
  if (!/[\n\r\t]| {5}/.test(value)) return undefined;
  return new Fault('invalid_text', 'It must not contain line breaks, tabs, or more than 4 spaces in a row.');
}

/** WhatsApp: "URLs, media, and emojis are not supported". */
function notACode(value: string): Fault | undefined {
  if (!/\p{Extended_Pictographic}|:\/\//u.test(value)) return undefined;
  return new Fault('invalid_text', 'A one-time password must not contain emojis or addresses.');
}

/** Percent-encodes spaces, `:`, `|` and all non-ASCII (WhatsApp, "Template components"). Pure. */
export function encodedSuffix(value: string): string {
  return value.replaceAll(/[^\x21-\x7e]|[:|]/gu, (character) => encodeURIComponent(character));
}
