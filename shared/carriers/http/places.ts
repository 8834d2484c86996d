/** In valid JSON: texts, and whole numbers of 16 digits or more, which JavaScript would round: they are ids. */
const LONG_NUMBER = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])\d{16,}(?![\d.eE])/g;

/** An answer or callback as a tree: its JSON, or `{ text }` where it is no JSON object. */
export function readTree(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    const tree: unknown = JSON.parse(text);
    if (typeof tree !== 'object') return { text: text.trim() };
    if (!/\d{16}/.test(text)) return tree;
    return JSON.parse(text.replaceAll(LONG_NUMBER, (found) => (found.startsWith('"') ? found : `"${found}"`)));
  } catch {
    // No JSON.
  }
  return { text: text.trim() };
}

/** The value at a place like `messages.0.messageId`. */
export function at(tree: unknown, place: string): unknown {
  let value = tree;
  for (const name of place.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name]; // its own member, checked above
  }
  return value;
}

/** The texts and numbers at these places, in their order, cut to `longest` characters. */
export function wordsAt(tree: unknown, places: readonly string[], longest: number): readonly string[] {
  return places.flatMap((place) => {
    const value = at(tree, place);
    const word = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    return word === '' ? [] : [word.slice(0, longest)];
  });
}
