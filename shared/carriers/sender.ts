import type { Collection, Db } from 'mongodb';
import type { Route } from '../messages/document/message.ts';
import type { Clock } from '../platform/runtime/clock.ts';
import { type AccountId, newId, type SenderId } from '../platform/runtime/ids.ts';
import { decideRegistration, insertRegistration, type Registration } from './registration-store.ts';

/** A registered sender id. It takes a place only if the account asked for it, until it is approved. */
export interface SenderDocument extends Registration {
  readonly _id: SenderId;
  /** As sent (source_addr): without an operator's prefix or suffix. */
  readonly sender: string;
  readonly routes: readonly Route[];
}

/**
 * 3 to 15 digits, or 1 to 11 characters with a letter among them: letters, digits, and the signs that are the same
 * octet in ASCII (SMPP 3.4 §5.2.8 source_addr) and in the GSM default alphabet (TS 23.038 §6.2.1), so that no carrier
 * shows another sender. `_` is the exception, because it is in use. `@` is excluded: in the GSM alphabet it is octet 0,
 * which ends a C-octet string. No space at either end: it would get lost. Spec gap: see
 * docs/specification/decisions.md, Requests.
 */
export const SENDER_FORM = /^(?:[0-9]{3,15}|(?=.*[A-Za-z])(?! )[A-Za-z0-9 !"#%&'()*+,./:;<=>?_-]{1,11}(?<! ))$/;

export function isSenderForm(sender: string): boolean {
  return SENDER_FORM.test(sender);
}

type NewSender = Pick<SenderDocument, 'account' | 'sender' | 'routes' | 'status'> & {
  readonly _id?: SenderId;
  readonly requested?: true;
};

export class SenderExists extends Error {
  readonly code = 'sender_exists';
}

/** Throws `SenderExists` (a unique index decides), and `QuotaReached` when a requested one has no place. */
export async function createSender(db: Db, clock: Clock, sender: NewSender): Promise<SenderDocument> {
  const now = clock.now();
  const document: SenderDocument = {
    _id: sender._id ?? newId('snd', now.getTime()),
    account: sender.account,
    sender: sender.sender,
    routes: sender.routes,
    status: sender.status,
    ...(sender.requested && { requested: true }),
    createdAt: now,
  };
  const isNew = await insertRegistration(db, 'senders', document, {
    inPlace: document.requested !== undefined,
    find: () => findSender(db, document.account, document.sender),
  });
  if (!isNew) throw new SenderExists(`sender "${sender.sender}" is already registered to ${sender.account}`);
  return document;
}

/** Seen within seconds; the account is told. False: no such sender, or its id is not `id`. Idempotent. */
export async function decideSender(
  db: Db,
  clock: Clock,
  account: AccountId,
  sender: string,
  status: 'approved' | 'rejected',
  reason?: string,
  id?: SenderId,
): Promise<boolean> {
  return decideRegistration(
    db,
    'senders',
    { account, sender, ...(id && { _id: id }) },
    { status, reason, at: clock.now(), event: `sender.${status}`, told: { sender }, freesPlace: true },
  );
}

/** By name. */
export async function listSenders(db: Db, account: AccountId): Promise<readonly SenderDocument[]> {
  return senders(db).find({ account }).sort({ sender: 1 }).toArray();
}

/** Hundreds, because operators approve each. */
export async function listApprovedNames(db: Db, account: AccountId): Promise<string[]> {
  const approved = senders(db).find({ account, status: 'approved' }, { projection: { _id: 0, sender: 1 } });
  return (await approved.toArray()).map(({ sender }) => sender);
}

/** By name. */
export async function listSenderPage(
  db: Db,
  account: AccountId,
  after: string,
  limit: number,
): Promise<readonly SenderDocument[]> {
  return senders(db)
    .find({ account, sender: { $gt: after } })
    .sort({ sender: 1 })
    .limit(limit)
    .toArray();
}

export async function findSenderById(db: Db, account: AccountId, id: SenderId): Promise<SenderDocument | undefined> {
  return (await senders(db).findOne({ _id: id, account })) ?? undefined;
}

/** Processes see it within seconds. False when the account has no such sender. */
export async function removeSender(db: Db, account: AccountId, id: SenderId): Promise<boolean> {
  return (await senders(db).deleteOne({ _id: id, account })).deletedCount === 1;
}

/** Case matters: `ACME` and `Acme` are two senders. */
export async function findSender(db: Db, account: AccountId, sender: string): Promise<SenderDocument | undefined> {
  return (await senders(db).findOne({ account, sender })) ?? undefined;
}

/** Whether the account has any approved sender. */
export async function hasSenders(db: Db, account: AccountId): Promise<boolean> {
  return (await senders(db).findOne({ account, status: 'approved' }, { projection: { _id: 1 } })) !== null;
}

/** `<account>:<sender>`. */
export type SenderKey = `${AccountId}:${string}`;

export function senderKey(account: AccountId, sender: string): SenderKey {
  return `${account}:${sender}`;
}

/** By the index on account and sender. */
export async function findSenders(db: Db, keys: readonly SenderKey[]): Promise<ReadonlyMap<SenderKey, SenderDocument>> {
  const found = await senders(db)
    .find({ $or: keys.map((key) => ({ account: accountOf(key), sender: key.slice(accountOf(key).length + 1) })) })
    .toArray();
  return new Map(found.map((one) => [senderKey(one.account, one.sender), one]));
}

/** Account ids have no colon; senders may. */
function accountOf(key: SenderKey): AccountId {
  return key.slice(0, key.indexOf(':')) as AccountId; // senderKey wrote it
}

function senders(db: Db): Collection<SenderDocument> {
  return db.collection('senders');
}
