import { objectOf } from '../../../shared/carriers/providers/graph-error.ts';

export interface TemplatePage {
  /** The entries of the page as they came. template.ts reads each of them. */
  readonly entries: readonly unknown[];
  /** Where the next page begins. Undefined on the last page. */
  readonly after: string | undefined;
}

/** Cursors have some hundred characters. They become part of a URL. */
const CURSOR_MAX = 2_048;

/**
 * Reads one page of `GET /{business}/message_templates`. Returns a text that says what is wrong if it is not such a page. Pure.
 */
export function readTemplatePage(body: Readonly<Record<string, unknown>> | undefined): TemplatePage | string {
  if (!Array.isArray(body?.data)) return 'the answer is no list of templates';
  const paging = objectOf(body.paging);
  const after = objectOf(paging?.cursors)?.after;
  // The URL in `next` is not used: the token would be sent to wherever it points.
  const more = typeof paging?.next === 'string' && typeof after === 'string' && after !== '';
  if (more && after.length > CURSOR_MAX) return `the cursor has more than ${CURSOR_MAX} characters`;
  return { entries: body.data, after: more ? after : undefined };
}
