import type { Db } from 'mongodb';
import { conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { namesOf, readCustomers } from '../../../shared/money/conversations/names.ts';
import { type AccountId, isMessageId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { listMessages, type MessagePage } from '../messages/message-list.ts';
import { messageRecord } from '../messages/message-record.ts';
import { customerRecord, isCustomerName } from './inbox.ts';
import { readSaid } from './texts.ts';

/** Two walks for each number of the customer, and the contents. */
const MESSAGES_PER_REQUEST = 50;

/**
 * GET /v2/account/inbox/{customer} (extension): the chat-app messages to and from one customer, newest first, with the session.
 * If the customer has several numbers, it has the messages of all of them (conversations/names.ts). A customer who is unknown to
 * the account is answered like one who does not exist.
 */
export function createThread({ db, clock, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const { customer } = req.params;
    if (typeof customer !== 'string' || !isCustomerName(customer)) return sendProblem(res, 'customer_not_found');
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'thread', isMessageId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = callerOf(res).account._id;
    const cost = Math.ceil(limit / MESSAGES_PER_REQUEST);
    const read = async (): Promise<object | undefined> => {
      const key = conversationKey(account, customer);
      const documents = await readCustomers(db, [key]);
      if (!documents.has(key)) return undefined;
      const names = namesOf(documents, account, customer);
      const { messages, next } = await readThread(db, account, names, after, limit);
      const said = await readSaid(
        db,
        account,
        messages.map(({ _id }) => _id),
      );
      const data = messages.map((message) => ({ ...messageRecord(message), ...said.get(message._id) }));
      return { ...customerRecord(documents, account, customer, clock.now()), ...pageOf('thread', data, next) };
    };
    await answerRead(res, cost, read, 'customer_not_found');
  };
}

/** What was written to a customer, and what the customer wrote, as one list. Each of the lists is found by an index. */
async function readThread(
  db: Db,
  account: AccountId,
  names: readonly string[],
  after: MessageId | undefined,
  limit: number,
): Promise<MessagePage> {
  const lists = await Promise.all(
    names.flatMap((name) => [
      listMessages(db, account, { channel: 'chatapp', from: name }, after, limit),
      listMessages(db, account, { channel: 'chatapp', to: name, direction: 'out' }, after, limit),
    ]),
  );
  // Where one of the lists ends and may go on, the others must not go further.
  const ends = lists.flatMap(({ next }) => next ?? []).sort();
  const cut = ends.at(-1);
  const all = lists
    .flatMap(({ messages }) => messages)
    .filter(({ _id }) => cut === undefined || _id >= cut)
    .sort((a, b) => (a._id < b._id ? 1 : -1));
  const messages = all.slice(0, limit);
  return { messages, next: all.length > limit ? messages.at(-1)?._id : cut };
}
