import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { nextTurn, turnOver } from '../../shared/platform/runtime/turns.ts';
import { optional, type Values } from '../http/fields/field.ts';
import { cursorOf, cursorText, entries, LIMIT_DEFAULT } from '../http/fields/query.ts';
import { CostlyRead } from './endpoint.ts';

const ENTRIES_PER_REQUEST = 500;

/** The specification answers this list whole: `{"templates": [ … ]}`. `limit` or `cursor`: a page (extension). */
interface WholeList<Entry extends object> {
  readonly list: string;
  readonly placeOf: (entry: Entry) => string;
  /** The number of entries. A whole list counts as many requests as it is long. */
  readonly count: (account: AccountId) => Promise<number>;
  /** The entries after a place, in chunks; all when there is no `limit`. */
  readonly read: (account: AccountId, after: string | undefined, limit: number | undefined) => AsyncIterable<Entry>;
}

export function pageOfWhole(list: string, isPlace: (text: string) => text is string) {
  const limit = optional(entries('Most entries of a page. Without it and without `cursor`: all.'));
  return { limit, cursor: cursorOf(list, isPlace) };
}

export async function readWhole<Entry extends object>(
  account: AccountId,
  { limit, cursor }: Values<ReturnType<typeof pageOfWhole>>,
  whole: WholeList<Entry>,
): Promise<CostlyRead<never>> {
  const most = limit ?? (cursor === undefined ? undefined : LIMIT_DEFAULT);
  const shown = most ?? (await whole.count(account));
  const cost = Math.max(1, Math.ceil(shown / ENTRIES_PER_REQUEST));
  return new CostlyRead<never>(cost, () => listJson(whole, whole.read(account, cursor, most && most + 1), most));
}

/** Text, because the list may have thousands of entries. Built in slices as they are read. */
async function listJson<Entry extends object>(
  { list, placeOf }: WholeList<Entry>,
  entries: AsyncIterable<Entry>,
  limit = Number.POSITIVE_INFINITY,
): Promise<string> {
  const texts: string[] = [];
  let next: string | null = null;
  let last: Entry | undefined;
  for await (const entry of entries) {
    if (texts.length === limit) {
      next = last === undefined ? null : cursorText(list, placeOf(last));
      break;
    }
    if (turnOver()) await nextTurn();
    texts.push(JSON.stringify(entry));
    last = entry;
  }
  const page = limit === Number.POSITIVE_INFINITY ? {} : { next_cursor: next, has_more: next !== null };
  const more = JSON.stringify(page).slice(1);
  return `{"templates":[${texts.join(',')}]${more === '}' ? '' : ','}${more}`;
}
