import type { Db } from 'mongodb';
import { z } from 'zod';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { ScheduleDocument } from '../../../shared/messages/schedule.ts';
import type { LedgerEntryDocument } from '../../../shared/money/ledger/store.ts';
import {
  type AccountId,
  idTime,
  isMessageId,
  isScheduleId,
  type MessageId,
  releasedId,
  type ScheduleId,
} from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import { text, whole } from '../../api/shapes.ts';
import { explain } from '../messages/explain/explain.ts';
import { MessageId as MessageIdShape, REPEAT_MS } from '../messages/shapes.ts';

/** What a line of the statement is about: messages with number and reference, why it was refunded, and repeats. */

export const LINKS = {
  messages: z
    .array(
      z.strictObject({
        message_id: MessageIdShape.optional(),
        to: text(undefined, { example: '919876543210' }).nullable(),
        reference: text('Your own name for it.').nullable(),
      }),
    )
    .meta({
      description:
        'The messages that it is about; of more than two the first and the last; without an id while a schedule waits. `to` is null when they were removed. All of a debit: `GET /v2/messages?change_id=…`.',
    })
    .optional(),
  message_count: whole('How many single messages a debit paid for.', { minimum: 1, example: 1 }).optional(),
  explanation: text('Of a refund: why.', { example: 'No carrier took the message.' }).optional(),
  repeats: z
    .array(whole(undefined, { minimum: 1 }))
    .meta({ description: 'Other lines of this page that paid for the same text to the same number within a minute.' })
    .optional(),
};

export type Links = Partial<{ readonly [Name in keyof typeof LINKS]: Shown<(typeof LINKS)[Name]> }>;

type Linked = Pick<
  MessageDocument,
  '_id' | 'to' | 'reference' | 'text' | 'state' | 'errorCode' | 'errorReason' | 'group'
> & {
  readonly conversation?: string;
};
const FIELDS = {
  to: 1,
  reference: 1,
  text: 1,
  state: 1,
  errorCode: 1,
  errorReason: 1,
  group: 1,
  conversation: 1,
} as const;

const SHOWN_SCHEDULES = 2;

/** By the entry's number. At most three reads for all entries. */
export async function readLinks(
  db: Db,
  account: AccountId,
  entries: readonly LedgerEntryDocument[],
): Promise<ReadonlyMap<number, Links>> {
  const conversations = entries.flatMap(({ reference = '' }) => (reference.startsWith('cnv_') ? [reference] : []));
  const booked = entries.flatMap(schedulesOf);
  const messages = db.collection<AnyMessage>('messages');
  const schedules =
    booked.length === 0
      ? []
      : await db
          .collection<ScheduleDocument>('schedules')
          .find({ _id: { $in: booked }, account })
          .project<Booked>({ at: 1, state: 1, batch: 1, 'content.message.to': 1, 'content.message.reference': 1 })
          .toArray();
  const bySchedule = new Map(schedules.map((schedule) => [schedule._id, schedule]));
  const released = schedules.flatMap((schedule) => messageOf(schedule) ?? []);
  const [named, openers] = await Promise.all([
    messages
      .find({ _id: { $in: [...new Set([...entries.flatMap(idsOf), ...released])] }, account })
      .project<Linked>(FIELDS)
      .toArray(),
    conversations.length === 0
      ? []
      : messages
          .find({ conversation: { $in: conversations }, account, opened: { $exists: true } } as object)
          .project<Linked>(FIELDS)
          .toArray(),
  ]);
  const byId = new Map(named.map((message) => [message._id, message]));
  const byConversation = new Map(openers.map((message) => [message.conversation, message]));
  const repeats = repeatsOf(entries, byId);
  return new Map(
    entries.map((entry) => {
      const { seq, reason, reference, covers } = entry;
      const opener = byConversation.get(reference);
      const ids = opener === undefined ? idsOf(entry) : [opener._id];
      const waiting = schedulesOf(entry).flatMap((id) => {
        const schedule = bySchedule.get(id);
        if (schedule === undefined || schedule.batch !== undefined) return [];
        const message = messageOf(schedule);
        if (message !== undefined) ids.push(message);
        return message === undefined ? [schedule.content?.message ?? {}] : [];
      });
      const shown = [
        ...ids.map((id) => {
          const { to, reference: name } = byId.get(id) ?? opener ?? {};
          return { message_id: id, to: to ?? null, reference: name ?? null };
        }),
        ...waiting.map(({ to = null, reference: name = null }) => ({ to, reference: name })),
      ];
      const [first] = ids;
      return [
        seq,
        {
          ...(shown.length > 0 && { messages: shown }),
          ...(covers !== undefined && { message_count: covers.count }),
          ...(reason === 'refund' && { explanation: whyBack(reference, first && byId.get(first)) }),
          ...(repeats.has(seq) && { repeats: [...(repeats.get(seq) ?? [])].sort((a, b) => a - b) }),
        },
      ];
    }),
  );
}

function idsOf({ covers, reference }: LedgerEntryDocument): MessageId[] {
  const ids = covers === undefined ? [] : [covers.first, covers.last];
  if (reference !== undefined && isMessageId(reference)) ids.push(reference);
  return [...new Set(ids)];
}

/** Only some schedules: a debit may have paid for a hundred. */
function schedulesOf({ reference, schedules = [] }: LedgerEntryDocument): readonly ScheduleId[] {
  return reference !== undefined && isScheduleId(reference) ? [reference] : schedules.slice(0, SHOWN_SCHEDULES);
}

interface Booked extends Pick<ScheduleDocument, '_id' | 'at' | 'state' | 'batch'> {
  readonly content?: { readonly message?: { readonly to?: string; readonly reference?: string } };
}

function messageOf({ _id, at, state, batch }: Booked): MessageId | undefined {
  return batch === undefined && state === 'sent' ? releasedId('msg', _id, at) : undefined;
}

function whyBack(reference = '', message: Linked | undefined): string {
  if (reference.startsWith('sch_')) return 'The schedule was cancelled.';
  if (reference.startsWith('bat_')) return 'The batch was stopped before these messages left.';
  if (reference.startsWith('cnv_')) return 'No message of the conversation was taken, or an SMS went in its place.';
  return (message && explain(message)?.cause) ?? 'No carrier took the message.';
}

/** By an entry's number: the others that paid for the same within a minute. */
function repeatsOf(
  entries: readonly LedgerEntryDocument[],
  byId: ReadonlyMap<MessageId, Linked>,
): ReadonlyMap<number, ReadonlySet<number>> {
  const debits = entries.filter(({ reason }) => reason === 'send');
  const paid = debits
    .flatMap(({ seq, covers }) =>
      covers === undefined ? [] : [...new Set([covers.first, covers.last])].map((id) => ({ seq, id })),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const last = new Map<string, (typeof paid)[number]>();
  const found = new Map<number, Set<number>>();
  for (const one of paid) {
    const message = byId.get(one.id);
    if (message?.text === undefined) continue;
    const key = `${message.to} ${message.text}`;
    const before = last.get(key);
    last.set(key, one);
    if (before === undefined || idTime(one.id).getTime() - idTime(before.id).getTime() > REPEAT_MS) continue;
    for (const [from, to] of [
      [one.seq, before.seq],
      [before.seq, one.seq],
    ] as const) {
      found.set(from, (found.get(from) ?? new Set()).add(to));
    }
  }
  return found;
}
