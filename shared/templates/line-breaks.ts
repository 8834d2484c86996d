/**
 * CR LF, CR and LF are one line break: portals export CR LF, programs write LF, and most operators compare neither. An account
 * whose operator compares octets says so (`lineBreaks: 'exact'`).
 */
export function foldLineBreaks(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

/** Whether two texts are one template. */
export function sameText(one: string, other: string, exact = false): boolean {
  return one === other || (!exact && foldLineBreaks(one) === foldLineBreaks(other));
}
