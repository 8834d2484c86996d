import { checkTemplateButtons } from './check-template-buttons.ts';
import { checkHeader } from './check-template-header.ts';
import { filled, type GraphError, type Json, list, object, surplus } from './http.ts';
import { ERRORS } from './magic-customers.ts';
import { componentOf, type Template, variables } from './templates.ts';

/** In this order. */
const PLACES = ['header', 'body', 'limited_time_offer', 'button', 'carousel'];
const ONCE = ['header', 'body', 'limited_time_offer', 'carousel'];

/**
 * Checks a send against its template, in the order of the Cloud API: the template exists and may be sent; each parameter has what
 * its type requires; the media header fits; the header's text and the body have the right number of values, then the right names
 * and values; the buttons fit; then the offer and the cards.
 *
 * It is stricter than the Cloud API in one thing: components must come in the template's order and may have only documented
 * members.
 */
export function checkTemplate(template: Json | undefined, templates: readonly Template[]): GraphError | undefined {
  const language = object(template?.language)?.code;
  const known = templates.find((one) => one.name === template?.name && one.language === language);
  if (known === undefined || known.status === 'PENDING' || known.status === 'REJECTED') {
    return { ...ERRORS.noTemplate, details: `template name (${template?.name}) does not exist in ${language}` };
  }
  if (known.status === 'PAUSED') return ERRORS.paused;
  if (known.status === 'DISABLED') return ERRORS.disabled;
  const odd = surplus(template ?? {}, ['name', 'language', 'components']);
  if (odd !== undefined) return parameter(`template: unexpected key "${odd}"`);
  const components = list(template?.components);
  if (template?.components !== undefined && components.length === 0) return parameter('template.components is empty');
  if (componentOf(known, 'ORDER_DETAILS') !== undefined) return { ...ERRORS.format, details: 'order_details' };
  return checkPart(known, components) ?? checkOffer(known, components) ?? checkCards(known, components);
}

/** Checks header, body and buttons: of a template, or of one of its cards. */
function checkPart(known: Template, components: readonly Json[]): GraphError | undefined {
  const header = components.find(({ type }) => type === 'header');
  const body = components.find(({ type }) => type === 'body');
  return (
    checkShape(components) ??
    components.map(textsWithoutText).find((error) => error !== undefined) ??
    checkHeader(header, componentOf(known, 'HEADER')) ??
    checkTexts(known, header, body) ??
    checkTemplateButtons(
      known,
      components.filter(({ type }) => type === 'button'),
    )
  );
}

/** Checks what must be true for every template. */
function checkShape(components: readonly Json[]): GraphError | undefined {
  const places = components.map(({ type }) => PLACES.indexOf(String(type)));
  if (places.includes(-1)) return parameter('template.components: a component is of no known type');
  if (places.some((place, i) => place < (places[i - 1] ?? 0))) {
    return parameter('template.components: the order is header, body, offer, buttons, cards');
  }
  const once = components.map(({ type }) => String(type)).filter((type) => ONCE.includes(type));
  if (new Set(once).size < once.length) return parameter('template.components: a component stands there twice');
  for (const component of components) {
    const member = component.type === 'carousel' ? 'cards' : 'parameters';
    const allowed = component.type === 'button' ? ['type', 'sub_type', 'index', member] : ['type', member];
    const key = surplus(component, allowed);
    if (key !== undefined) return parameter(`template.components: unexpected key "${key}"`);
    if (list(component[member]).length === 0) return parameter(`template.components: ${member} are missing`);
  }
  return undefined;
}

function checkOffer(known: Template, components: readonly Json[]): GraphError | undefined {
  const offer = componentOf(known, 'LIMITED_TIME_OFFER')?.limited_time_offer;
  const given = components.find(({ type }) => type === 'limited_time_offer');
  if (offer === undefined || offer.has_expiration === false) {
    return given === undefined
      ? undefined
      : { ...ERRORS.templateParameters, details: 'limited_time_offer: it has none' };
  }
  const [first, second] = list(given?.parameters);
  const ends = object(first?.limited_time_offer)?.expiration_time_ms;
  const good = first?.type === 'limited_time_offer' && second === undefined && Number.isSafeInteger(ends);
  if (!good) return { ...ERRORS.missing, details: 'limited_time_offer: expiration_time_ms' };
  return Number(ends) > Date.now() ? undefined : { ...ERRORS.value, details: 'limited_time_offer: it has ended' };
}

function checkCards(known: Template, components: readonly Json[]): GraphError | undefined {
  const own = componentOf(known, 'CAROUSEL')?.cards ?? [];
  const cards = list(components.find(({ type }) => type === 'carousel')?.cards);
  if (cards.length !== own.length) {
    return { ...ERRORS.paramCount, details: `carousel: ${cards.length} cards, expected ${own.length}` };
  }
  for (const [i, card] of cards.entries()) {
    if (card.card_index !== i) return parameter(`carousel: card_index must be ${i}`);
    const key = surplus(card, ['card_index', 'components']);
    if (key !== undefined) return parameter(`carousel: unexpected key "${key}"`);
    const error = checkPart({ ...known, components: own[i]?.components ?? [] }, list(card.components));
    if (error !== undefined) return { ...error, details: `carousel: card ${i}: ${error.details}` };
  }
  return undefined;
}

function parameter(details: string): GraphError {
  return { ...ERRORS.parameter, details };
}

const HEADER_MAX = 60;
const BODY_MAX = 1_024;
const CODE_MAX = 15;

/** Finds a parameter of type `text` that has no text. */
function textsWithoutText(component: Json): GraphError | undefined {
  const place = component.type === 'button' ? 'button: ' : '';
  const without = list(component.parameters).some(({ type, text }) => type === 'text' && !filled(text));
  if (!without) return undefined;
  const empty = place === '' ? '' : ' and cannot be empty';
  const details = `${place}Parameter 'text' is mandatory for component parameter type 'text'${empty}`;
  return { ...ERRORS.parameter, details };
}

/**
 * Checks the header's text, then the body: the number of values, their names, what is in them, and the length of the filled text.
 */
function checkTexts(known: Template, header: Json | undefined, body: Json | undefined): GraphError | undefined {
  const own = componentOf(known, 'HEADER');
  const ofHeader = own?.format === 'TEXT' ? checkText('header', known, own.text, header, HEADER_MAX) : undefined;
  return ofHeader ?? checkText('body', known, componentOf(known, 'BODY')?.text, body, BODY_MAX);
}

function checkText(
  place: string,
  known: Template,
  text: string | undefined,
  component: Json | undefined,
  most: number,
): GraphError | undefined {
  const parameters = list(component?.parameters);
  const wanted = variables(text);
  if (parameters.some(({ type }) => type !== 'text')) {
    return { ...ERRORS.format, details: `${place}: Format mismatch, expected TEXT, received another` };
  }
  if (parameters.length !== wanted.length) {
    return {
      ...ERRORS.paramCount,
      details: `${place}: number of localizable_params (${parameters.length}) does not match the expected number of params (${wanted.length})`,
    };
  }
  return checkNames(known, wanted, parameters) ?? checkValues(place, known, text ?? '', wanted, parameters, most);
}

function checkNames(
  { parameter_format: format }: Template,
  wanted: readonly string[],
  parameters: readonly Json[],
): GraphError | undefined {
  const named = format === 'NAMED';
  for (const parameter of parameters) {
    const odd = surplus(parameter, named ? ['type', 'parameter_name', 'text'] : ['type', 'text']);
    if (odd !== undefined) return { ...ERRORS.parameter, details: `unexpected key "${odd}" of a parameter` };
  }
  if (!named) return undefined;
  const names = parameters.map((parameter) => parameter.parameter_name);
  if (!names.every(filled)) return { ...ERRORS.parameter, details: 'Parameter name is missing or empty' };
  const missing = wanted.find((name) => !names.includes(name));
  if (missing === undefined) return undefined;
  return { ...ERRORS.parameter, details: `Parameter name is missing for the parameter '{{${missing}}}'` };
}

function checkValues(
  place: string,
  { category }: Template,
  text: string,
  wanted: readonly string[],
  parameters: readonly Json[],
  most: number,
): GraphError | undefined {
  const values = new Map(
    parameters.map(({ parameter_name: name, text: value }, i) => [
      String(name ?? [...wanted].sort((a, b) => Number(a) - Number(b))[i]),
      String(value),
    ]),
  );
  for (const [i, { text: value }] of parameters.entries()) {
    const problem = brokenValue(String(value), category);
    if (problem !== undefined)
      return { ...ERRORS.templateParameters, details: `${place}: Parameter at index ${i} ${problem}` };
  }
  const whole = text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => values.get(name) ?? '');
  return [...whole].length > most
    ? { ...ERRORS.textTooLong, details: `${place}: the translated text has more than ${most} characters` }
    : undefined;
}

function brokenValue(value: string, category: Template['category']): string | undefined {
  if (/[\n\r\t]| {5}/.test(value)) return 'has new-line or tab characters or more than 4 consecutive spaces';
  const long = category === 'AUTHENTICATION' && [...value].length > CODE_MAX;
  return long ? `exceeds the parameter length limit ${CODE_MAX}` : undefined;
}
