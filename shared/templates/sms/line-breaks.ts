/**
 * CR LF, CR and LF are one line break: portals export CR LF, programs write LF, and most operators compare neither. An account
 * whose operator compares octets says so (`lineBreaks: 'exact'`).
 */
export function foldLineBreaks(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

/** The index in `text` of what is at `at` in its folded form. */
export function placeBeforeFolding(text: string, at: number): number {
  let place = 0;
  for (let folded = 0; folded < at; folded++) place += text.startsWith('\r\n', place) ? 2 : 1;
  return place;
}

/** Whether two texts are one template. */
export function sameText(one: string, other: string, exact = false): boolean {
  return one === other || (!exact && foldLineBreaks(one) === foldLineBreaks(other));
}
