import type { Collection, Db } from 'mongodb';
import { HOUR_MS, type HourName, hourName } from '../../../shared/messages/statistics-hour.ts';
import { DUPLICATE_KEY, storeTrouble } from '../../../shared/platform/mongo/errors.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';

/**
 * How many messages a recipient was sent in one clock hour by an account that limits that: one document for each, removed after the
 * hour. Counted before the debit, by an update that goes no further than the limit: so it is exact over all gateways. A process that
 * dies between the count and the debit leaves one too many, never one too few.
 */
interface RecipientHourDocument {
  readonly _id: `${AccountId}:${string}:${HourName}`;
  readonly n: number;
  readonly expiresAt: Date;
}

function recipientHourCollection(db: Db): Collection<RecipientHourDocument> {
  return db.collection('recipient_hours');
}

const SLICE = 1_000;

/** What was counted, so that it can be given back when nothing was sent after all. */
export interface RecipientCount {
  readonly hour: Date;
  readonly wanted: ReadonlyMap<string, number>;
}

/**
 * Counts one message for each of `recipients`; a recipient that is there twice is counted twice. When that is more than `most` for
 * some, nothing stays counted, and they are returned.
 */
export async function countRecipients(
  db: Db,
  account: AccountId,
  recipients: readonly string[],
  most: number,
  now: Date,
): Promise<RecipientCount | { readonly over: ReadonlySet<string> }> {
  const wanted = [...timesOf(recipients)];
  const over = new Set(wanted.filter(([, times]) => times > most).map(([to]) => to));
  const counted = new Map<string, number>();
  for (let start = 0; start < wanted.length && over.size === 0; start += SLICE) {
    const slice = wanted.slice(start, start + SLICE);
    const refused = await countSlice(db, account, slice, most, now);
    for (const [to, times] of slice) if (!refused.has(to)) counted.set(to, times);
    for (const to of refused) over.add(to);
  }
  const count = { hour: now, wanted: counted };
  if (over.size === 0) return count;
  await giveBackRecipients(db, account, count);
  return { over };
}

async function countSlice(
  db: Db,
  account: AccountId,
  slice: readonly (readonly [to: string, times: number])[],
  most: number,
  now: Date,
): Promise<ReadonlySet<string>> {
  const collection = recipientHourCollection(db);
  const expiresAt = new Date(now.getTime() + 2 * HOUR_MS);
  const updates = slice.map(([to, times]) => ({
    filter: { _id: keyOf(account, to, now), n: { $lte: most - times } },
    update: { $inc: { n: times }, $setOnInsert: { expiresAt } },
  }));
  const { writeErrors = [] } = await db.command({
    update: 'recipient_hours',
    ordered: false,
    updates: updates.map(({ filter, update }) => ({ q: filter, u: update, upsert: true })),
    writeConcern: { w: 'majority', j: true },
  });
  const refused = new Set<string>();
  for (const { index, code, errmsg } of writeErrors) {
    const [one, again] = [slice[index], updates[index]];
    if (code !== DUPLICATE_KEY || one === undefined || again === undefined) throw storeTrouble(errmsg);
    // The document is there: at its limit, or another gateway has inserted it at the same moment.
    const counted = refused.size === 0 && (await collection.updateOne(again.filter, again.update)).matchedCount === 1;
    if (!counted) refused.add(one[0]);
  }
  return refused;
}

/** The recipients to whom as many messages cannot be sent now. Counts nothing. */
export async function recipientsOver(
  db: Db,
  account: AccountId,
  recipients: readonly string[],
  most: number,
  now: Date,
): Promise<ReadonlySet<string>> {
  const wanted = [...timesOf(recipients)];
  const over = new Set(wanted.filter(([, times]) => times > most).map(([to]) => to));
  for (let start = 0; start < wanted.length; start += SLICE) {
    const keys = new Map(
      wanted.slice(start, start + SLICE).map(([to, times]) => [keyOf(account, to, now), { to, times }]),
    );
    const found = await recipientHourCollection(db)
      .find({ _id: { $in: [...keys.keys()] } })
      .batchSize(SLICE + 1)
      .toArray();
    for (const { _id, n } of found) {
      const key = keys.get(_id);
      if (key !== undefined && n + key.times > most) over.add(key.to);
    }
  }
  return over;
}

export async function giveBackRecipients(db: Db, account: AccountId, { hour, wanted }: RecipientCount): Promise<void> {
  const updates = [...wanted].map(([to, times]) => ({
    updateOne: { filter: { _id: keyOf(account, to, hour) }, update: { $inc: { n: -times } } },
  }));
  for (let start = 0; start < updates.length; start += SLICE) {
    await recipientHourCollection(db).bulkWrite(updates.slice(start, start + SLICE), { ordered: false });
  }
}

function keyOf(account: AccountId, to: string, at: Date): RecipientHourDocument['_id'] {
  return `${account}:${to}:${hourName(at)}`;
}

function timesOf(recipients: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const to of recipients) times.set(to, (times.get(to) ?? 0) + 1);
  return times;
}
