const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** The text of a piece of a page of ours. */
export function unescaped(html: string): string {
  return html.replaceAll(/&(#39|\w+);/g, (_, name) => SIGNS[name] ?? '');
}
