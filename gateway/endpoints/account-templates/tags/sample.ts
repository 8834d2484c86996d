import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import { hourName } from '../../../../shared/messages/statistics-hour.ts';
import { hourCollection } from '../../../../shared/messages/statistics-store.ts';
import { defined } from '../../../../shared/platform/runtime/defined.ts';
import { type AccountId, lowestId } from '../../../../shared/platform/runtime/ids.ts';
import type { SentText } from './propose.ts';

/**
 * Messages of templates, found without an index of templates: one would cost a write per message. The newest messages of the account are
 * looked at, and before them those of the hours in which the hourly counts have the template.
 */

const PAGE = 1_000;
/** Messages that are looked at: of all, of the newest, and of one hour. */
const LOOKED_MAX = 20_000;
const NEWEST_MAX = 5_000;
const HOUR_MAX = 3_000;
/** Hours that are parsed at once: with the most rows of an account each some 20 KB. All that fit in 16 MB held the loop for 0.2 s. */
const HOURS_AT_ONCE = 20;
const HOUR_MS = 3_600_000;

export interface Sample {
  /** By DLT id, the newest first. */
  readonly texts: ReadonlyMap<string, readonly SentText[]>;
  /** By DLT id: the messages of the hourly counts, which are some minutes old. */
  readonly counted: ReadonlyMap<string, number>;
  /** Messages that were looked at, of any template. */
  readonly looked: number;
}

/** Messages from `from` on, `enough` of each template at most. */
export async function sampleTexts(
  db: Db,
  account: AccountId,
  dltIds: readonly string[],
  from: Date,
  enough: number,
): Promise<Sample> {
  const texts = new Map<string, SentText[]>(dltIds.map((dltId) => [dltId, []]));
  const counted = new Map<string, number>();
  const lacks = (dltId: string): boolean => (texts.get(dltId)?.length ?? enough) < enough;
  const first = lowestId('msg', from);
  let looked = 0;

  /** The messages below `before`, the newest first. The lowest id that was looked at; undefined when there are no more. */
  async function look(lowest: string, before: string | undefined, most: number, wanted: readonly string[]) {
    let below = before;
    for (const end = Math.min(LOOKED_MAX, looked + most); looked < end && wanted.some(lacks); ) {
      const range = { $gte: lowest, ...(below !== undefined && { $lt: below }) } as { $gte: AnyMessage['_id'] };
      const page = await db
        .collection<AnyMessage>('messages')
        .find({ account, _id: range }, { projection: { template: 1, text: 1, verification: 1 } })
        .sort({ _id: -1 })
        .hint('account')
        .limit(Math.min(PAGE, end - looked))
        .toArray();
      looked += page.length;
      for (const found of page) {
        // A text that is kept no longer is gone from its message.
        if (!('template' in found) || !('text' in found) || typeof found.template !== 'string' || !found.text) continue;
        const { _id: id, template, text, verification } = found;
        if (lacks(template)) texts.get(template)?.push({ id, text, ...defined({ verification }) });
      }
      below = page.at(-1)?._id ?? lowest;
      if (page.length < PAGE) break;
    }
    return below;
  }

  const below = (await look(first, undefined, NEWEST_MAX, dltIds)) ?? first;
  const hours = hourCollection(db)
    .find(
      { _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:9999-12-31T23` } },
      { batchSize: HOURS_AT_ONCE },
    )
    .project<{ _id: string; traffic: readonly { template?: string; states: Readonly<Record<string, number>> }[] }>({
      'traffic.template': 1,
      'traffic.states': 1,
    })
    .sort({ _id: -1 });
  for await (const { _id, traffic } of hours) {
    const inHour: string[] = [];
    for (const { template, states } of traffic) {
      if (template === undefined || !texts.has(template)) continue;
      inHour.push(template);
      const messages = Object.values(states).reduce((sum, count) => sum + count, 0);
      counted.set(template, (counted.get(template) ?? 0) + messages);
    }
    const begins = new Date(`${_id.slice(account.length + 1)}:00:00Z`);
    const lowest = [first, lowestId('msg', begins)].sort()[1] ?? first;
    const before = [below, lowestId('msg', new Date(begins.getTime() + HOUR_MS))].sort()[0];
    if (before !== undefined && before > lowest) await look(lowest, before, HOUR_MAX, inHour);
  }
  return { texts, counted, looked };
}
