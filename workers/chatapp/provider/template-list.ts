import { objectOf } from './answer.ts';

export interface TemplatePage {
  /** Each is read by template.ts. */
  readonly entries: readonly unknown[];
  /** Where the next page begins. Undefined on the last page. */
  readonly after: string | undefined;
}

/** Cursors have some hundred characters. They become part of a URL. */
const CURSOR_MAX = 2_048;

/** One page of `GET /{business}/message_templates`; otherwise what is wrong with it. Pure. */
export function readTemplatePage(body: Readonly<Record<string, unknown>> | undefined): TemplatePage | string {
  if (!Array.isArray(body?.data)) return 'the answer is no list of templates';
  const paging = objectOf(body.paging);
  const after = objectOf(paging?.cursors)?.after;
  // The URL in `next` is not used: the token would be sent to wherever it points.
  const more = typeof paging?.next === 'string' && typeof after === 'string' && after !== '';
  if (more && after.length > CURSOR_MAX) return `the cursor has more than ${CURSOR_MAX} characters`;
  return { entries: body.data, after: more ? after : undefined };
}
