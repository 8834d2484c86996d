/** The first `most` UTF-16 code units of a text, without half a surrogate pair at their end: half of an emoji is no text. */
export function beginning(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
