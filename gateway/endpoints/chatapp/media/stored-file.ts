import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../../shared/messages/any-message.ts';
import { objectOf } from '../../../../shared/providers/graph-error.ts';
import type { AccountId, MessageId } from '../../../../shared/runtime/ids.ts';

/** What a customer's message says of its file. */
export interface StoredFile {
  /** The provider's id of the file. */
  readonly mediaId: string;
  readonly mime: string | undefined;
  /** As the customer's phone named it. Only documents have one. */
  readonly name: string | undefined;
}

/** Types of messages that have a file, as the provider names them (WhatsApp Cloud API, webhooks: messages). */
const TYPES = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;
/** The id becomes part of a path. */
const MEDIA_ID = /^[A-Za-z0-9_-]{1,256}$/;

const FIELDS = Object.fromEntries([
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
    .findOne<{ readonly inbound?: unknown }>({ _id: id, account }, { projection: FIELDS });
  return message === null ? undefined : fileOf(message.inbound);
}

/** Members of `more` are the provider's, unread. */
function fileOf(inbound: unknown): StoredFile | null {
  const { type, more } = objectOf(inbound) ?? {};
  const own = TYPES.some((one) => one === type) ? objectOf(objectOf(more)?.[String(type)]) : undefined;
  const { id, mime_type: mime, filename } = own ?? {};
  if (typeof id !== 'string' || !MEDIA_ID.test(id)) return null;
  return { mediaId: id, mime: textOf(mime), name: textOf(filename) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
