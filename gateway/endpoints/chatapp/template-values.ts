import { Fault } from '../../http/fields/field.ts';
import { characters } from './fields.ts';
import type { TemplateParam } from './template-params.ts';

/** WhatsApp's limits, in characters ("Template components", "Coupon code templates", "Authentication templates"). */
export const HEADER_MAX = 60;
export const BODY_MAX = 1_024;
/** Of a card ("Media card carousel templates"), and beside a limited-time offer. */
export const CARD_BODY_MAX = 160;
export const OFFER_BODY_MAX = 600;
export const URL_MAX = 2_000;
const COUPON_MAX = 15;
const CODE_MAX = 15;

/** Why the template cannot have this value for its variable. fill-template.ts checks the length with the text around it. Pure. */
export function valueFault(param: TemplateParam, value: string): Fault | undefined {
  switch (param.fills) {
    // The checks of addresses need the operator's settings, so they are in http/fields/public-url.ts.
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

/**
 * Encodes a value for an address (WhatsApp, "Template components"): spaces, `:`, `|` and all characters outside ASCII are
 * percent-encoded. Pure.
 */
export function encodedSuffix(value: string): string {
  return value.replaceAll(/[^\x21-\x7e]|[:|]/gu, (character) => encodeURIComponent(character));
}
