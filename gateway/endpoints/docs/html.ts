/** Small pieces of HTML. `text` is escaped; everything else is HTML already. */

/** `…` in a text of the contract marks code. */
export function prose(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

export function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${prose(paragraph)}</p>`)
    .join('');
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

export function link(href: string, html: string): string {
  return `<a href="${escapeHtml(href)}">${html}</a>`;
}

/** What scrolls must be reachable by keyboard and have a name. */
export function codeBlock(text: string, label: string): string {
  return `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
