import type { Db } from 'mongodb';
import { objectOf } from '../../../../shared/carriers/providers/graph-error.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { BusinessNumber } from '../../../../shared/messages/document/chat-message.ts';
import type { AccountId, MessageId } from '../../../../shared/platform/runtime/ids.ts';

/** What a customer's message says of its file. */
export interface StoredFile {
  /** The provider's id of the file. */
  readonly mediaId: string;
  /** The account's number that it was written to: its provider has the file. */
  readonly number: BusinessNumber;
  readonly mime: string | undefined;
  /** As the customer's phone named it. Only documents have one. */
  readonly name: string | undefined;
}

/** Types of messages that have a file, as the provider names them (WhatsApp Cloud API, webhooks: messages). */
const TYPES = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;
/** The id becomes part of a path. */
const MEDIA_ID = /^[A-Za-z0-9_-]{1,256}$/;

const FIELDS = Object.fromEntries([
  ['to', 1],
  ['inbound.type', 1],
  ...TYPES.flatMap((type) => ['id', 'mime_type', 'filename'].map((member) => [`inbound.more.${type}.${member}`, 1])),
]);

/** The file of a message of the account: null if it has none, undefined if there is no such message. */
export async function readStoredFile(
  db: Db,
  account: AccountId,
  id: MessageId,
): Promise<StoredFile | null | undefined> {
  const message = await db
    .collection<AnyMessage>('messages')
    .findOne<{ readonly to: BusinessNumber; readonly inbound?: unknown }>({ _id: id, account }, { projection: FIELDS });
  return message === null ? undefined : fileOf(message);
}

/** Members of `more` are the provider's, unread. */
function fileOf({ to, inbound }: { readonly to: BusinessNumber; readonly inbound?: unknown }): StoredFile | null {
  const { type, more } = objectOf(inbound) ?? {};
  const own = TYPES.some((one) => one === type) ? objectOf(objectOf(more)?.[String(type)]) : undefined;
  const { id, mime_type: mime, filename } = own ?? {};
  if (typeof id !== 'string' || !MEDIA_ID.test(id)) return null;
  return { mediaId: id, number: to, mime: textOf(mime), name: textOf(filename) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
