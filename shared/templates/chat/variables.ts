/** `{{1}}` or `{{first_name}}`. WhatsApp names variables with letters, digits and underscores. */
const VARIABLE = /\{\{\s*(\w{1,64})\s*\}\}/g;

/**
 * The different variables of a text, in the order in which their values are given: numbered variables by their numbers, named
 * ones as they appear. A variable that appears twice takes one value. Pure.
 */
export function variablesIn(text: string): readonly string[] {
  const found = [...new Set([...text.matchAll(VARIABLE)].map(([, variable = '']) => variable))];
  return found.every(isNumber) ? found.sort((a, b) => Number(a) - Number(b)) : found;
}

/** Values of numbered variables are sent in their order. Values of named variables are sent with their names. */
export function isNumber(variable: string): boolean {
  return /^\d+$/.test(variable);
}

/** The text with its values. A variable without a value stays as it is. Pure. */
export function withValues(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(VARIABLE, (placeholder, variable: string) => values.get(variable) ?? placeholder);
}
