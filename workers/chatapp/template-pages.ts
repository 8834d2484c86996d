import { setImmediate } from 'node:timers/promises';
import type { Exchange } from '../../shared/carriers/http/client.ts';
import { objectOf } from '../../shared/carriers/providers/graph-error.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { parseLargeJson, TooLargeError } from '../../shared/platform/runtime/large-json.ts';
import type { ChatTemplateDocument, TemplateOwner } from '../../shared/templates/chat/chat-template.ts';
import { readTemplate, type Unreadable } from './provider/template.ts';
import { listTrouble } from './provider/trouble.ts';

export interface TemplateList {
  readonly templates: readonly ChatTemplateDocument[];
  /** How many entries could not be read. `firstSkipped` is the first of them. */
  readonly skipped: number;
  readonly firstSkipped: Unreadable | undefined;
}

export interface TemplatePagesOptions {
  readonly owner: TemplateOwner;
  readonly clock: Clock;
  /** Asks for the page that follows a cursor, or for the first page. */
  ask(after: string | undefined): Promise<Exchange>;
}

/** The most entries of a list, templates or not. WhatsApp allows 6,000. */
const TEMPLATES_MAX = 10_000;
/** The most pages: enough for `TEMPLATES_MAX`, and some more. A list that never ends is not followed further. */
const PAGES_MAX = 250;
/** The most bytes of all pages. The templates are kept in memory until all are read; 6,000 need some 12 MB. */
const BYTES_MAX = 64 * 1_048_576;
/** Entries that are read without giving way to the event loop. */
const AT_ONCE = 5;

/** Reads all templates of a business account, as the provider lists them. Returns the reason as a text when the list is not available. */
export async function readTemplates({ owner, clock, ask }: TemplatePagesOptions): Promise<TemplateList | string> {
  const templates = new Map<string, ChatTemplateDocument>();
  let entries = 0;
  let bytes = 0;
  let skipped = 0;
  let firstSkipped: Unreadable | undefined;
  let after: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const exchange = await ask(after);
    const page = await readPage(exchange);
    if (typeof page === 'string') return page;
    bytes += exchange.kind === 'answered' ? exchange.body.length : 0;
    if (bytes > BYTES_MAX) return `more than ${BYTES_MAX} bytes of templates`;
    entries += page.entries.length;
    if (entries > TEMPLATES_MAX) return `more than ${TEMPLATES_MAX} templates`;
    for (const [i, entry] of page.entries.entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await setImmediate();
      const read = readTemplate(owner, entry, clock.now());
      if ('problem' in read) {
        skipped += 1;
        firstSkipped ??= read;
      } else {
        // A later page may repeat an entry that moved. The later one counts.
        templates.set(read._id, read);
      }
    }
    if (page.after === undefined) return { templates: [...templates.values()], skipped, firstSkipped };
    after = page.after;
  }
  return `more than ${PAGES_MAX} pages`;
}

async function readPage(exchange: Exchange): Promise<TemplatePage | string> {
  if (exchange.kind !== 'answered' || exchange.status !== 200) return listTrouble(exchange);
  try {
    return readTemplatePage(objectOf(await parseLargeJson(exchange.body)));
  } catch (error) {
    // The parser's message is left out, because it can quote the text.
    return error instanceof TooLargeError ? `the answer cannot be read: ${error.message}` : 'the answer is no JSON';
  }
}

interface TemplatePage {
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
