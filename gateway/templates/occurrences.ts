/**
 * Every index at which `literal` occurs in the text, ascending, overlapping occurrences included
 * (Knuth-Morris-Pratt). Always takes text + literal steps. A search with `indexOf` would take text × literal steps to
 * find `aa…a` in `aaa…`.
 */
export function occurrencesOf(text: string, literal: string): number[] {
  const borders = bordersOf(literal);
  const found: number[] = [];
  let matched = 0;
  for (let i = 0; i < text.length; i++) {
    const codeUnit = text.charCodeAt(i);
    while (matched > 0 && (matched === literal.length || literal.charCodeAt(matched) !== codeUnit)) {
      matched = borders[matched - 1] ?? 0;
    }
    if (literal.charCodeAt(matched) === codeUnit) matched++;
    if (matched === literal.length) found.push(i + 1 - matched);
  }
  return found;
}

/** For each prefix of the literal: the length of its longest proper prefix that is also its suffix. */
function bordersOf(literal: string): Uint16Array {
  const borders = new Uint16Array(literal.length);
  let border = 0;
  for (let i = 1; i < literal.length; i++) {
    const codeUnit = literal.charCodeAt(i);
    while (border > 0 && literal.charCodeAt(border) !== codeUnit) border = borders[border - 1] ?? 0;
    if (literal.charCodeAt(border) === codeUnit) border++;
    borders[i] = border;
  }
  return borders;
}
