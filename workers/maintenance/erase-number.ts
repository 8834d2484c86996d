import type { Db } from 'mongodb';
import { removeOptIn } from '../../shared/carriers/chat-opt-in-store.ts';
import type { DeliveryDocument, DeliveryGroup, Stored } from '../../shared/events/webhooks/delivery.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { ERASED } from '../../shared/messages/document/recipient.ts';
import { STATES } from '../../shared/messages/document/status.ts';
import { verificationsOf } from '../../shared/messages/document/verification.ts';
import { removeExports } from '../../shared/messages/export-store.ts';
import { scheduleCollection } from '../../shared/messages/schedule.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { conversationKey, forgetCustomer, readConversations } from '../../shared/money/conversations/conversation.ts';
import { marketingStoppedAt, readPerson } from '../../shared/money/conversations/person.ts';
import { type ErasureDocument, findDueErasure, noteErasure } from '../../shared/people/erasure.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import {
  type AccountId,
  eventId,
  idDay,
  lowestId,
  type MessageId,
  testAccountOf,
} from '../../shared/platform/runtime/ids.ts';

const GROUP = 100;
/** When something of the person has not ended yet. */
const AGAIN_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Messages that wait may be some days older than those that are kept. */
const WAITING_DAYS = 14;

export interface EraseDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly messageDays: number;
  held(): boolean;
}

/**
 * Works off one due erasure: for all names of the person, removes from every ended message from or to the number the
 * number, the text and the reference, and what was posted to webhooks and logged of it; then the conversations, the
 * opt-in, verifications, and the account's exports, which are made anew on demand. The cost and end of a message stay,
 * and so does an opt-out, also one from marketing alone: it keeps the person from being written to again. May end
 * anywhere, and is then begun again. Returns whether it found one.
 */
export async function eraseNumber(deps: EraseDeps): Promise<boolean> {
  const { db, clock, held } = deps;
  const erasure = await findDueErasure(db, clock.now());
  if (erasure?.number === undefined) return false;
  let erased = 0;
  let waiting = 0;
  for (const account of await accountsOf(db, erasure)) {
    if (!held()) return true;
    const done = await eraseOf(deps, account, erasure.number, erasure.at);
    erased += done.erased;
    waiting += done.waiting;
  }
  if (!held()) return true;
  const now = clock.now();
  const again = waiting > 0 ? new Date(now.getTime() + AGAIN_MS) : undefined;
  await noteErasure(db, erasure, { erased, waiting, again, now });
  return true;
}

async function accountsOf(db: Db, { account }: ErasureDocument): Promise<readonly AccountId[]> {
  if (account !== undefined) return [account, testAccountOf(account)];
  const all = await db
    .collection<AccountDocument>('accounts')
    .find({}, { projection: { _id: 1 } })
    .toArray();
  return all.map(({ _id }) => _id);
}

/** The names are in the stored conversations, so those go last. */
async function eraseOf(deps: EraseDeps, account: AccountId, number: string, at: Date) {
  const { db, clock, held } = deps;
  const { names } = await readPerson(db, account, number);
  let erased = 0;
  let waiting = 0;
  for (const name of names) {
    const done = await eraseName(deps, account, name, at);
    erased += done.erased;
    waiting += done.waiting;
  }
  if (!held()) return { erased, waiting: waiting + 1 };
  await removeOptIn(db, account, names);
  if (waiting === 0) waiting = await forgetPerson(db, account, names.toReversed(), at, clock.now());
  return { erased, waiting };
}

async function eraseName({ db, clock, messageDays, held }: EraseDeps, account: AccountId, number: string, at: Date) {
  const before = lowestId('msg', at);
  const today = idDay(before);
  const days = Array.from({ length: messageDays + WAITING_DAYS }, (_, i) => today - i);
  let erased = 0;
  let waiting = 0;
  // Files of messages have the number too.
  await removeExports(db, account, at);
  for (const field of ['to', 'from'] as const) {
    let after: MessageId | undefined;
    for (;;) {
      const _id = { $lt: before, ...(after && { $gt: after }) };
      const found = await db
        .collection<AnyMessage>('messages')
        .find({ account, day: { $in: days }, [field]: number, _id })
        .sort({ _id: 1 })
        .limit(GROUP)
        .toArray();
      const theirs = found.filter((message) => isTheirs(message, field));
      // Before emptying, so that no export is left after a crash. The end does it again, for exports begun meanwhile.
      if (theirs.length > 0) await removeExports(db, account, clock.now());
      const emptied = await empty(db, theirs);
      erased += emptied.erased;
      waiting += emptied.waiting;
      after = found.at(-1)?._id;
      if (found.length < GROUP || !held()) break;
    }
  }
  if (erased > 0) await removeExports(db, account, clock.now());
  await verificationsOf(db).deleteMany({ account, to: number, _id: { $lt: lowestId('vrf', at) } });
  const schedules = await scheduleCollection(db).countDocuments({
    ...{ account, state: { $in: ['scheduled', 'sending'] }, 'content.message.to': number },
  });
  await scheduleCollection(db).updateMany(
    { account, state: 'cancelled', 'content.message.to': number },
    { $set: { 'content.message.to': ERASED } },
  );
  return { erased, waiting: waiting + schedules };
}

/** `to` of a received message is the account's own number. */
function isTheirs(message: AnyMessage, field: 'to' | 'from'): boolean {
  return (field === 'from') === 'inbound' in message;
}

async function empty(db: Db, messages: readonly AnyMessage[]): Promise<{ erased: number; waiting: number }> {
  let erased = 0;
  let waiting = 0;
  for (const message of messages) {
    const { _id, v, state } = message;
    const waits = 'fallback' in message && message.fallback?.due !== undefined;
    const isOver = !waits && (state === 'received' || STATES[state].final || message.closedReason !== undefined);
    if (!isOver || !(await emptyDeliveries(db, message))) {
      waiting += 1;
      continue;
    }
    await db.collection('message_log').deleteMany({ message: _id });
    const { matchedCount } = await db
      .collection<AnyMessage>('messages')
      .updateOne(
        { _id, v },
        { $set: emptied(message), $unset: { reference: '', customer: '', replyTo: '' }, $inc: { v: 1 } },
      );
    erased += matchedCount;
    waiting += 1 - matchedCount;
  }
  return { erased, waiting };
}

function emptied(message: AnyMessage): Readonly<Record<string, unknown>> {
  if ('inbound' in message) return { from: ERASED, inbound: { type: message.inbound.type, body: '' } };
  if (message.channel === 'chatapp') {
    const sms = message.fallback && { 'fallback.sms.text': '' };
    return { to: ERASED, content: { kind: 'text', text: '' }, ...sms };
  }
  // `raw`, the carrier's own words, may contain the number or words of the message.
  return { to: ERASED, text: '', history: message.history.map(({ raw: _, ...entry }) => entry) };
}

/** False when one of the message's events is still to be posted. */
async function emptyDeliveries(db: Db, { _id, history }: AnyMessage): Promise<boolean> {
  const events = history.map(({ state }) => eventId(_id, state));
  const deliveries = db.collection<Stored>('deliveries');
  const [first] = events;
  if (first === undefined) return true;
  // The ids of a message's events begin alike, and a delivery's id begins with its event's.
  const begin = first.slice(0, first.lastIndexOf('_') + 1);
  const single = { _id: { $gt: begin, $lt: `${begin}~` } } as object;
  const grouped = { 'items.eventId': { $in: events } };
  const open = { state: { $in: ['due', 'waiting'] } } as const;
  if ((await deliveries.findOne({ ...single, ...open })) !== null) return false;
  if ((await deliveries.findOne({ ...grouped, ...open })) !== null) return false;
  await db
    .collection<DeliveryDocument>('deliveries')
    .updateMany({ ...single, body: { $exists: true } }, { $set: { body: '{}' } });
  const groups = db.collection<DeliveryGroup>('deliveries');
  for (const { _id: id, items } of await groups.find(grouped).toArray()) {
    const own = new Set<string>(events);
    const left = items.map((item) => (own.has(item.eventId) ? { ...item, body: '{}' } : item));
    await groups.updateOne({ _id: id }, { $set: { items: left } });
  }
  return true;
}

/**
 * Returns how many of the conversations are still open: until they have ended none is forgotten, because it names the
 * others. A conversation that began after the request stays.
 */
async function forgetPerson(
  db: Db,
  account: AccountId,
  names: readonly string[],
  at: Date,
  now: Date,
): Promise<number> {
  const documents = await readConversations(
    db,
    names.map((name) => conversationKey(account, name)),
  );
  const stored = names.flatMap((name) => documents.get(conversationKey(account, name)) ?? []);
  const left = stored.filter(({ lastInboundAt }) => lastInboundAt === undefined || lastInboundAt <= at);
  const open = left.filter(
    ({ current }) => current !== undefined && current.until > now && current.until.getTime() < at.getTime() + DAY_MS,
  );
  if (open.length > 0) return open.length;
  const stopped = marketingStoppedAt({ documents: stored });
  for (const document of left) await forgetCustomer(db, document, stopped);
  return 0;
}
