import type { Db } from 'mongodb';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import {
  type ConversationDocuments,
  documentsOf,
  namesOf,
  readCustomers,
  sessionOf,
} from '../../../shared/money/conversations/names.ts';
import { isSessionOpen, sessionUntil } from '../../../shared/money/conversations/session.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { listMessages } from '../messages/message-list.ts';
import { listInbox } from './inbox-store.ts';
import { readSaid, type Said } from './texts.ts';

/** This many customers of a page count as one request: each takes a look at its last message. */
const CUSTOMERS_PER_REQUEST = 10;

/** GET /v2/account/inbox (extension): the customers who wrote on the chat-app channel; who wrote last is first. */
export function createInbox({ db, clock, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const cursor = parseCursor(query.cursor, 'inbox', isPlace, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / CUSTOMERS_PER_REQUEST), async () => {
      const found = await listInbox(db, account, cursor && placeOf(cursor), limit + 1);
      const page = found.slice(0, limit);
      const last = await lastMessages(db, account, page);
      const keys = page.map(({ customer }) => conversationKey(account, customer));
      const documents = await readCustomers(db, keys);
      const now = clock.now();
      const data = page.map(({ customer }) => ({
        ...customerRecord(documents, account, customer, now),
        last_message: last.get(customer) ?? null,
      }));
      const end = page.at(-1);
      return pageOf('inbox', data, found.length > limit && end !== undefined ? textOf(end) : undefined);
    });
  };
}

/** Who a customer is, and how long one may write freely, whichever number it is written to. */
export function customerRecord(
  documents: ConversationDocuments,
  account: AccountId,
  customer: string,
  now: Date,
): object {
  const [, ...aliases] = namesOf(documents, account, customer);
  const session = sessionOf(documents, account, customer);
  const until = sessionUntil(session);
  const [paid] = documentsOf(documents, account, customer)
    .flatMap(({ current }) => current ?? [])
    .filter((one) => one.until > now)
    .sort((a, b) => b.until.getTime() - a.until.getTime());
  return {
    customer,
    aliases,
    last_message_at: session.lastInboundAt === undefined ? null : isoTimestamp(session.lastInboundAt),
    session_open: isSessionOpen(session, now),
    session_until: until === undefined ? null : isoTimestamp(until),
    /** The conversation that is paid for now: further messages in it cost nothing. */
    conversation:
      paid === undefined
        ? null
        : { conversation_id: paid.id, until: isoTimestamp(paid.until), credits: paid.credits, by: paid.by },
  };
}

/** What each customer wrote last. */
async function lastMessages(
  db: Db,
  account: AccountId,
  customers: readonly ConversationDocument[],
): Promise<ReadonlyMap<string, object>> {
  const ids = new Map<string, MessageId>();
  const types = new Map<string, string | undefined>();
  for (const { customer, lastInboundAt } of customers) {
    if (lastInboundAt === undefined) continue;
    // Ids have the provider's time, as `lastInboundAt` has: one day of the index is enough.
    const createdFrom = new Date(lastInboundAt.getTime() - 1_000);
    const filter = { from: customer, channel: 'chatapp', createdFrom } as const;
    const [last] = (await listMessages(db, account, filter, undefined, 1)).messages;
    if (last === undefined) continue;
    ids.set(customer, last._id);
    types.set(customer, last.inbound?.type);
  }
  const said: ReadonlyMap<MessageId, Said> = await readSaid(db, account, [...ids.values()]);
  return new Map([...ids].map(([customer, id]) => [customer, { type: types.get(customer), ...said.get(id) }]));
}

type Place = `${number}:${string}`;

function isPlace(text: string): text is Place {
  const [, customer = ''] = /^\d{1,15}:(.+)$/.exec(text) ?? [];
  return isCustomerName(customer);
}

/** Whether this can be the name of a customer: digits, or a user id. */
export function isCustomerName(text: string): boolean {
  return /^\d{1,20}$/.test(text) || isCustomerUserId(text);
}

function placeOf(text: Place): { readonly atMs: number; readonly customer: string } {
  const colon = text.indexOf(':');
  return { atMs: Number(text.slice(0, colon)), customer: text.slice(colon + 1) };
}

function textOf({ lastInboundAt, customer }: ConversationDocument): Place {
  return `${lastInboundAt?.getTime() ?? 0}:${customer}`;
}
