import { checkTemplateButtons } from './check-template-buttons.ts';
import { checkHeader } from './check-template-header.ts';
import { checkTexts, textsWithoutText } from './check-template-texts.ts';
import { type Json, list, object, surplus } from './json.ts';
import { ERRORS, type GraphError } from './magic-customers.ts';
import { componentOf, type Template } from './templates.ts';

const PLACES = ['header', 'body', 'button'];
const UNSENDABLE = ['CAROUSEL', 'LIMITED_TIME_OFFER'] as const;

/**
 * Checks a send against its template, in the order of the Cloud API: the template exists and may be sent; each parameter has what
 * its type requires; the media header fits; the header's text and the body have the right number of values, then the right names
 * and values; the buttons fit.
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
  const components = list(template?.components);
  const header = components.find(({ type }) => type === 'header');
  const body = components.find(({ type }) => type === 'body');
  return (
    checkShape(template ?? {}, components) ??
    components.map(textsWithoutText).find((error) => error !== undefined) ??
    checkHeader(header, componentOf(known, 'HEADER')) ??
    checkTexts(known, header, body) ??
    checkTemplateButtons(
      known,
      components.filter(({ type }) => type === 'button'),
    ) ??
    checkForeign(known)
  );
}

/** Checks what must be true for every template. */
function checkShape(template: Json, components: readonly Json[]): GraphError | undefined {
  const parameter = (details: string): GraphError => ({ ...ERRORS.parameter, details });
  const odd = surplus(template, ['name', 'language', 'components']);
  if (odd !== undefined) return parameter(`template: unexpected key "${odd}"`);
  if (template.components !== undefined && components.length === 0) return parameter('template.components is empty');
  const places = components.map(({ type }) => PLACES.indexOf(String(type)));
  if (places.includes(-1)) return parameter('template.components: a component is no header, body or button');
  if (places.some((place, i) => place < (places[i - 1] ?? 0))) {
    return parameter('template.components: the order is header, body, buttons');
  }
  if (new Set(places.filter((place) => place < 2)).size < places.filter((place) => place < 2).length) {
    return parameter('template.components: a component stands there twice');
  }
  for (const component of components) {
    const allowed = component.type === 'button' ? ['type', 'sub_type', 'index', 'parameters'] : ['type', 'parameters'];
    const key = surplus(component, allowed);
    if (key !== undefined) return parameter(`template.components: unexpected key "${key}"`);
    if (list(component.parameters).length === 0) return parameter('template.components: parameters are missing');
  }
  return undefined;
}

/** Refuses templates whose components this provider does not know. */
function checkForeign(known: Template): GraphError | undefined {
  const missing = UNSENDABLE.find((type) => componentOf(known, type) !== undefined);
  return missing === undefined
    ? undefined
    : { ...ERRORS.format, details: `${missing.toLowerCase()}: Format mismatch, expected ${missing}, received UNKNOWN` };
}
