import { objectOf } from '../../../shared/carriers/providers/graph-error.ts';
import {
  BUTTON_TYPES,
  MEDIA_HEADERS,
  type TemplateButton,
  type TemplateComponents,
  type TemplateHeader,
} from '../../../shared/templates/chat/chat-template.ts';
import { isNumber, variablesIn } from '../../../shared/templates/chat/variables.ts';

/** A component or a button, as it is listed. */
export type Component = Readonly<Record<string, unknown>>;

/** For words from a fixed list: statuses, categories, types. */
export const WORD_MAX = 64;

interface ReadComponents {
  readonly components: TemplateComponents;
  /** A part of the template that Harkara cannot send, in words. */
  readonly unsendable?: string;
}

/**
 * Reads the components of a template for sending. `authentication` says that the template is of that category: WhatsApp lists its
 * buttons as `URL`, and they carry the same code as the body (WhatsApp, "Authentication templates"). Pure.
 */
export function readComponents(listed: readonly Component[], authentication: boolean): ReadComponents {
  const header = headerOf(listed.find((one) => typeOf(one) === 'HEADER'));
  const body = listed.find((one) => typeOf(one) === 'BODY');
  const footer = listed.find((one) => typeOf(one) === 'FOOTER');
  const buttons = listed.flatMap((one) => partsOf(one.buttons)).map((button) => buttonOf(button, authentication));
  const offer = listed.find((one) => typeOf(one) === 'LIMITED_TIME_OFFER');
  const carousel = listed.find((one) => typeOf(one) === 'CAROUSEL');
  const cards = partsOf(carousel?.cards).map((card) => readComponents(partsOf(card.components), false));
  const components: TemplateComponents = {
    ...(header === undefined ? {} : { header }),
    ...(body === undefined ? {} : { body: text(body.text) }),
    ...(footer === undefined ? {} : { footer: text(footer.text) }),
    buttons: buttons.filter((button) => button !== undefined),
    ...(offer === undefined ? {} : { offer: offerOf(offer) }),
    ...(carousel === undefined ? {} : { cards: cards.map((card) => card.components) }),
  };
  const unsendable =
    listed.map(foreignPart).find((part) => part !== undefined) ??
    cards.find((card) => card.unsendable !== undefined)?.unsendable ??
    (carousel !== undefined && !isCarousel(cards) ? 'a carousel without cards' : oddVariables(components));
  return unsendable === undefined ? { components } : { components, unsendable };
}

/** Cards have no cards. */
function isCarousel(cards: readonly ReadComponents[]): boolean {
  return cards.length > 0 && cards.every(({ components }) => components.cards === undefined);
}

/** Without a word of it the offer shows when it ends ("Limited-time offer templates"). */
function offerOf({ limited_time_offer: given }: Component): NonNullable<TemplateComponents['offer']> {
  const { text: words, has_expiration: expires } = objectOf(given) ?? {};
  return { text: text(words), expires: expires !== false };
}

function headerOf(component: Component | undefined): TemplateHeader | undefined {
  if (component === undefined) return undefined;
  const format = word(component.format).toLowerCase();
  if (format === 'text') return { format, text: text(component.text) };
  if (format === 'location' || format === 'product') return { format };
  const media = MEDIA_HEADERS.find((known) => known === format);
  return media === undefined ? undefined : { format: media };
}

function buttonOf(button: Component, authentication: boolean): TemplateButton | undefined {
  const listed = BUTTON_TYPES.find((known) => known === typeOf(button).toLowerCase());
  if (listed === undefined) return undefined;
  const url = text(button.url);
  const isCode = authentication && listed === 'url' && variablesIn(url).length > 0;
  return {
    type: isCode ? 'otp' : listed,
    text: text(button.text),
    ...(url === '' ? {} : { url }),
    ...(typeof button.phone_number === 'string' ? { phoneNumber: word(button.phone_number) } : {}),
  };
}

/** Names, in words, a part of the component that our API has no fields for. */
function foreignPart(component: Component): string | undefined {
  switch (typeOf(component)) {
    case 'BODY':
    case 'FOOTER':
    case 'CAROUSEL':
    case 'LIMITED_TIME_OFFER':
      return undefined;
    case 'HEADER':
      return headerOf(component) === undefined ? `a header of type ${word(component.format).toLowerCase()}` : undefined;
    case 'BUTTONS': {
      const foreign = partsOf(component.buttons).find((button) => buttonOf(button, false) === undefined);
      return foreign === undefined ? undefined : `a button of type ${typeOf(foreign).toLowerCase()}`;
    }
    default:
      return `a component of type ${typeOf(component).toLowerCase()}`;
  }
}

/** Says which variables have no known order. Approved templates have no such variables (WhatsApp, "Template components"). */
function oddVariables({ header, body = '', buttons }: TemplateComponents): string | undefined {
  const texts = [header?.format === 'text' ? header.text : '', body, ...buttons.map(({ url = '' }) => url)];
  for (const variables of texts.map(variablesIn)) {
    const numbers = variables.filter(isNumber);
    if (numbers.length > 0 && numbers.length < variables.length) return 'variables of which some have names';
    if (numbers.some((number, i) => number !== String(i + 1))) return 'variables that are not numbered 1, 2, 3';
  }
  const several = buttons.some(({ url = '' }) => variablesIn(url).length > 1);
  return several ? 'a button with more than one variable' : undefined;
}

export function partsOf(value: unknown): readonly Component[] {
  return Array.isArray(value) ? value.map(objectOf).filter((entry) => entry !== undefined) : [];
}

export function typeOf(component: Component): string {
  return word(component.type).toUpperCase();
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function word(value: unknown): string {
  return text(value).slice(0, WORD_MAX);
}
