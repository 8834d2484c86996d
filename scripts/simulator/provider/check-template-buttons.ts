import { productSectionsProblem } from './check-interactive.ts';
import { filled, type GraphError, type Json, list, object, surplus } from './http.ts';
import { ERRORS } from './magic-customers.ts';
import { componentOf, type Template, type TemplateButton, variables } from './templates.ts';

const URL_MAX = 2_000;
const PAYLOAD_MAX = 128;
const CODE_MAX = 15;
/** The types of buttons that take a parameter. Each has the `sub_type` of a send, and the type's name in error texts. */
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

/**
 * Checks the button components against the template's buttons: index, kind and parameter. Also checks that no button is missing.
 */
export function checkTemplateButtons(known: Template, components: readonly Json[]): GraphError | undefined {
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

function parameterProblem({ type, url = '' }: TemplateButton, parameter: Json, known: Template): string | undefined {
  const only = (kind: string, member: string): boolean =>
    parameter.type === kind && surplus(parameter, ['type', member]) === undefined;
  switch (type) {
    case 'QUICK_REPLY': {
      const { payload } = parameter;
      const good = only('payload', 'payload') && filled(payload) && payload.length <= PAYLOAD_MAX;
      return good ? undefined : 'wanted: a payload';
    }
    case 'URL':
      if (!only('text', 'text')) return 'wanted: a text';
      return suffixProblem(url, String(parameter.text), known);
    case 'COPY_CODE':
      return only('coupon_code', 'coupon_code') && /^[A-Za-z0-9]{1,15}$/.test(String(parameter.coupon_code))
        ? undefined
        : 'wanted: a coupon_code of at most 15 letters and digits';
    case 'CATALOG':
    case 'MPM': {
      const { thumbnail_product_retailer_id: thumbnail, sections } = object(parameter.action) ?? {};
      if (!only('action', 'action') || !filled(thumbnail))
        return 'wanted: an action with thumbnail_product_retailer_id';
      if (type === 'CATALOG') return sections === undefined ? undefined : 'a catalog has no sections';
      return productSectionsProblem(sections);
    }
    default: {
      const { flow_token: token, flow_action_data: data } = object(parameter.action) ?? {};
      if (!only('action', 'action') || !filled(token)) return 'wanted: an action with a flow_token';
      const good = data === undefined || Object.keys(object(data) ?? {}).length > 0;
      return good ? undefined : 'flow_action_data must be a non-empty object';
    }
  }
}

function suffixProblem(url: string, suffix: string, { category }: Template): string | undefined {
  if (category === 'AUTHENTICATION')
    return [...suffix].length > CODE_MAX ? `more than ${CODE_MAX} characters` : undefined;
  if (!/^[\x21-\x7e]+$/.test(suffix)) return 'spaces and other alphabets must be percent-encoded';
  return url.length + suffix.length > URL_MAX ? `an address of more than ${URL_MAX} characters` : undefined;
}

function wrong(details: string): GraphError {
  return { ...ERRORS.templateParameters, details };
}
