const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** The text of a piece of our HTML. */
export function unescaped(html: string): string {
  return html.replaceAll(/&(#39|\w+);/g, (_, name) => SIGNS[name] ?? '');
}
