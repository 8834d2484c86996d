/**
 * The name that a customer sees of a document: the last word of the link's path if it is the name of a PDF, otherwise
 * `document.pdf`. It always has an extension, because phones choose the icon by it. Pure.
 */
export function fileNameOf(url: string): string {
  const last = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined;
  return last !== undefined && /^[\w.-]{1,200}\.pdf$/i.test(last) ? last : 'document.pdf';
}
