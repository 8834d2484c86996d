import { objectOf } from './answer.ts';

export interface TemplatePage {
  /** To be read one by one (template.ts). */
  readonly entries: readonly unknown[];
  /** Where the next page begins; undefined: this was the last. */
  readonly after: string | undefined;
}

/** Cursors have some hundred characters; they become part of an address. */
const CURSOR_MAX = 2_048;

/** One page of `GET /{business}/message_templates`, or what is wrong with it. Pure. */
export function readTemplatePage(body: Readonly<Record<string, unknown>> | undefined): TemplatePage | string {
  if (!Array.isArray(body?.data)) return 'the answer is no list of templates';
  const paging = objectOf(body.paging);
  const after = objectOf(paging?.cursors)?.after;
  // The address in `next` is not followed: the token would go wherever it says.
  const more = typeof paging?.next === 'string' && typeof after === 'string' && after !== '';
  if (more && after.length > CURSOR_MAX) return `the cursor has more than ${CURSOR_MAX} characters`;
  return { entries: body.data, after: more ? after : undefined };
}
