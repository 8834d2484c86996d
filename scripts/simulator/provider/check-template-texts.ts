import { filled, type Json, list, surplus } from './json.ts';
import { ERRORS, type GraphError } from './magic-customers.ts';
import { componentOf, type Template, variables } from './templates.ts';

const HEADER_MAX = 60;
const BODY_MAX = 1_024;
const CODE_MAX = 15;

/** Finds a parameter of type `text` that has no text. */
export function textsWithoutText(component: Json): GraphError | undefined {
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
export function checkTexts(known: Template, header: Json | undefined, body: Json | undefined): GraphError | undefined {
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
