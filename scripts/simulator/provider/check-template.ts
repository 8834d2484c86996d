import { filled, type GraphError, type Json, list, object, surplus } from './http.ts';
import { ERRORS } from './magic-customers.ts';
import { componentOf, type Template, type TemplateButton, type TemplateComponent, variables } from './templates.ts';

/** In this order. */
const PLACES = ['header', 'body', 'limited_time_offer', 'button', 'carousel'];
const ONCE = ['header', 'body', 'limited_time_offer', 'carousel'];

/**
 * Checks a send against its template in the Cloud API's order: the template's existence and status; the form of each
 * parameter; the media header; number, then names of the values in header text and body; the buttons; the offer and the
 * cards.
 *
 * Stricter than the Cloud API in one thing: components must be in the template's order and have only documented
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

function textsWithoutText(component: Json): GraphError | undefined {
  const place = component.type === 'button' ? 'button: ' : '';
  const without = list(component.parameters).some(({ type, text }) => type === 'text' && !filled(text));
  if (!without) return undefined;
  const empty = place === '' ? '' : ' and cannot be empty';
  const details = `${place}Parameter 'text' is mandatory for component parameter type 'text'${empty}`;
  return { ...ERRORS.parameter, details };
}

/** Checks number and names of the values in header text and body. Harkara's endpoint has checked their content. */
function checkTexts(known: Template, header: Json | undefined, body: Json | undefined): GraphError | undefined {
  const own = componentOf(known, 'HEADER');
  const ofHeader = own?.format === 'TEXT' ? checkText('header', known, own.text, header) : undefined;
  return ofHeader ?? checkText('body', known, componentOf(known, 'BODY')?.text, body);
}

function checkText(
  place: string,
  known: Template,
  text: string | undefined,
  component: Json | undefined,
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
  return checkNames(known, wanted, parameters);
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

const LOCATION = ['latitude', 'longitude', 'name', 'address'];
const MEDIA_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  image: ['id', 'link'],
  video: ['id', 'link'],
  document: ['id', 'link', 'filename'],
};

/** Checks a header of media, product or location. Every send must bring one: the template has only an example. */
function checkHeader(header: Json | undefined, own: TemplateComponent | undefined): GraphError | undefined {
  const [parameter, second] = list(header?.parameters);
  const given = String(parameter?.type ?? 'unknown');
  if (own === undefined) {
    return header === undefined
      ? undefined
      : { ...ERRORS.templateParameters, details: 'header: the template has no header' };
  }
  const { format = 'TEXT' } = own;
  if (format === 'TEXT' && (parameter === undefined || given === 'text')) return undefined;
  const type = format.toLowerCase();
  if (parameter !== undefined && given === type && object(parameter[type]) === undefined) {
    const details = `Parameter '${type}' is mandatory for component parameter type '${type}'`;
    return { ...ERRORS.parameter, details };
  }
  if (given !== type || second !== undefined) {
    const details = `header: Format mismatch, expected ${format}, received ${given.toUpperCase()}`;
    return { ...ERRORS.format, details };
  }
  const odd = surplus(parameter ?? {}, ['type', type]);
  if (odd !== undefined) return { ...ERRORS.parameter, details: `header: unexpected key "${odd}"` };
  const value = object(parameter?.[type]) ?? {};
  if (format === 'PRODUCT') return checkProduct(value);
  return format === 'LOCATION' ? checkPlace(value) : checkMedia(type, value);
}

function checkProduct(product: Json): GraphError | undefined {
  const odd = surplus(product, ['product_retailer_id', 'catalog_id']);
  const good = filled(product.product_retailer_id) && /^\d+$/.test(String(product.catalog_id)) && odd === undefined;
  return good
    ? undefined
    : { ...ERRORS.parameter, details: 'header: product needs product_retailer_id and catalog_id' };
}

function checkMedia(type: string, media: Json): GraphError | undefined {
  const odd = surplus(media, MEDIA_MEMBERS[type] ?? []);
  if (odd !== undefined) return { ...ERRORS.parameter, details: `header: unexpected key "${odd}" in ${type}` };
  if (!filled(media.link) && !filled(media.id)) {
    return { ...ERRORS.templateParameters, details: 'header: Either one of media ID or link must be present' };
  }
  if (media.link !== undefined && !/^https?:\/\/\S+$/.test(String(media.link))) {
    return { ...ERRORS.value, details: `header: ${type}.link must be an address` };
  }
  if (media.filename !== undefined && !filled(media.filename)) {
    return { ...ERRORS.value, details: 'header: document.filename must be a text' };
  }
  return undefined;
}

/** Degrees may be strings, as in the documentation's samples. */
function checkPlace(location: Json): GraphError | undefined {
  const missing = LOCATION.find((name) => !filled(location[name])) ?? surplus(location, LOCATION);
  if (missing !== undefined) {
    return { ...ERRORS.parameter, details: `template.components[0].parameters[0].location.${missing}` };
  }
  const degrees = [
    [location.latitude, 90],
    [location.longitude, 180],
  ] as const;
  const bad = degrees.some(
    ([value, most]) => !/^-?\d{1,3}(\.\d+)?$/.test(String(value)) || Math.abs(Number(value)) > most,
  );
  return bad ? { ...ERRORS.value, details: 'header: latitude and longitude must be degrees' } : undefined;
}

/** Buttons that take a parameter, with the `sub_type` of a send and the name in error texts. */
const SUB_TYPES: Readonly<
  Partial<Record<TemplateButton['type'], { readonly subType: string; readonly word: string }>>
> = {
  QUICK_REPLY: { subType: 'quick_reply', word: 'QuickReply' },
  URL: { subType: 'url', word: 'Url' },
  COPY_CODE: { subType: 'copy_code', word: 'CopyCode' },
  FLOW: { subType: 'flow', word: 'Flow' },
  CATALOG: { subType: 'catalog', word: 'Catalog' },
  MPM: { subType: 'mpm', word: 'Mpm' },
};

/** Checks index, kind and parameter of the button components, and that no button is missing. */
function checkTemplateButtons(known: Template, components: readonly Json[]): GraphError | undefined {
  const buttons = componentOf(known, 'BUTTONS')?.buttons ?? [];
  const indexes = components.map(({ index }) => (/^\d$/.test(String(index)) ? Number(index) : -1));
  if (indexes.some((index, i) => index <= (indexes[i - 1] ?? -1))) {
    return wrong('buttons: the order and the indexes must be those of the template');
  }
  for (const [i, component] of components.entries()) {
    const index = indexes[i] ?? 0;
    const button = buttons[index];
    if (button === undefined) return wrong(`buttons: the template has no button at index ${index}`);
    const error = checkButton(button, index, component, known);
    if (error !== undefined) return error;
  }
  const missing = buttons.findIndex((button, index) => needsParameter(button) && !indexes.includes(index));
  if (missing === -1) return undefined;
  const word = SUB_TYPES[buttons[missing]?.type ?? 'URL']?.word;
  return { ...ERRORS.missing, details: `buttons: Button at index ${missing} of type ${word} requires a parameter` };
}

function needsParameter({ type, url }: TemplateButton): boolean {
  return type === 'COPY_CODE' || type === 'FLOW' || type === 'MPM' || (type === 'URL' && variables(url).length > 0);
}

function checkButton(
  button: TemplateButton,
  index: number,
  { sub_type: given, parameters }: Json,
  known: Template,
): GraphError | undefined {
  const rule = SUB_TYPES[button.type];
  if (rule === undefined || (button.type === 'URL' && !needsParameter(button))) {
    return wrong(`buttons: Button at index ${index} takes no parameter`);
  }
  // The Cloud API accepts `sub_type` in upper and lower case.
  if (String(given).toLowerCase() !== rule.subType) {
    return wrong(`buttons: Button at index ${index} must be of type ${rule.word}`);
  }
  const [parameter, second] = list(parameters);
  if (parameter === undefined || second !== undefined) {
    return wrong(`buttons: Button at index ${index} takes one parameter`);
  }
  const problem = parameterProblem(button, parameter, known);
  return problem === undefined ? undefined : wrong(`buttons: Button at index ${index}: ${problem}`);
}

function parameterProblem({ type }: TemplateButton, parameter: Json, known: Template): string | undefined {
  const only = (kind: string, member: string): boolean =>
    parameter.type === kind && surplus(parameter, ['type', member]) === undefined;
  switch (type) {
    case 'QUICK_REPLY':
      return only('payload', 'payload') && filled(parameter.payload) ? undefined : 'wanted: a payload';
    case 'URL':
      if (!only('text', 'text')) return 'wanted: a text';
      // The code of an authentication template is not part of a URL.
      return known.category === 'AUTHENTICATION' || /^[\x21-\x7e]+$/.test(String(parameter.text))
        ? undefined
        : 'spaces and other alphabets must be percent-encoded';
    case 'COPY_CODE':
      return only('coupon_code', 'coupon_code') && filled(parameter.coupon_code) ? undefined : 'wanted: a coupon_code';
    case 'CATALOG':
    case 'MPM': {
      const { thumbnail_product_retailer_id: thumbnail, sections } = object(parameter.action) ?? {};
      if (!only('action', 'action') || !filled(thumbnail))
        return 'wanted: an action with thumbnail_product_retailer_id';
      if (type === 'CATALOG') return sections === undefined ? undefined : 'a catalog has no sections';
      return list(sections).length > 0 ? undefined : 'wanted: sections';
    }
    default: {
      const { flow_token: token, flow_action_data: data } = object(parameter.action) ?? {};
      if (!only('action', 'action') || !filled(token)) return 'wanted: an action with a flow_token';
      const good = data === undefined || Object.keys(object(data) ?? {}).length > 0;
      return good ? undefined : 'flow_action_data must be a non-empty object';
    }
  }
}

function wrong(details: string): GraphError {
  return { ...ERRORS.templateParameters, details };
}
