import type { Db } from 'mongodb';
import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import type {
  Answered,
  BusinessNumber,
  ChatMessageDocument,
  InboundMessageDocument,
} from '../../../shared/messages/document/chat-message.ts';
import { readNames } from '../../../shared/money/conversations/person.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { FieldProblems } from '../../http/field-problems.ts';

/** Of either direction. */
type Found =
  | Pick<InboundMessageDocument, 'direction' | 'to' | 'from' | 'upstreamId'>
  | Pick<ChatMessageDocument, 'direction' | 'to' | 'from' | 'parts'>;

/**
 * The message between this customer and this number of the account that a request refers to by `field`. Undefined, with a problem, when there is none, or
 * when the provider does not have it yet. One read, and another one if it was written under another name of the same person.
 */
export async function findAnswered(
  db: Db,
  account: AccountId,
  to: string,
  number: BusinessNumber,
  field: string,
  message: MessageId,
  problems: FieldProblems,
): Promise<Answered | undefined> {
  const found = await findChatMessage(db, account, message);
  if (found === undefined || found.number !== number || !(await isWith(db, account, found, to))) {
    problems.add(
      field,
      'invalid_value',
      `The account has no chat-app message with this id between \`to\` and its number ${number}.`,
    );
    return undefined;
  }
  const { upstreamId } = found;
  if (upstreamId === undefined) problems.add(field, 'invalid_value', 'The provider has not taken this message yet.');
  return upstreamId === undefined ? undefined : { message, upstreamId };
}

/** `customer`: null when the provider did not say who wrote. `upstreamId`: undefined until the provider has taken it. */
interface ChatMessage {
  readonly direction: 'in' | 'out';
  /** The account's. */
  readonly number: BusinessNumber;
  readonly customer: string | null;
  readonly upstreamId: string | undefined;
}

/** Undefined when the account has no such message of the chat-app channel. */
export async function findChatMessage(db: Db, account: AccountId, _id: MessageId): Promise<ChatMessage | undefined> {
  const found = await db
    .collection<InboundMessageDocument | ChatMessageDocument>('messages')
    .findOne<Found>(
      { _id, account, channel: 'chatapp' },
      { projection: { direction: 1, to: 1, from: 1, upstreamId: 1, 'parts.key': 1 } },
    );
  if (found === null) return undefined;
  if (found.direction === 'in') {
    return { direction: 'in', number: found.to, customer: found.from, upstreamId: found.upstreamId };
  }
  const { to, from } = found;
  const key = found.parts?.find((part) => part.key !== undefined)?.key;
  return { direction: 'out', number: from, customer: to, upstreamId: key?.slice(chatMessageKey(account, '').length) };
}

async function isWith(db: Db, account: AccountId, { customer }: ChatMessage, to: string): Promise<boolean> {
  if (customer === to || customer === null) return customer === to;
  return (await readNames(db, account, [to])).get(to)?.includes(customer) === true;
}
