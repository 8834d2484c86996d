import type { Collection, Db } from 'mongodb';
import { updateEach } from '../mongo/update-each.ts';
import type { AccountId } from '../runtime/ids.ts';
import { type ChatTemplateDocument, type ChatTemplateStatus, chatTemplateId } from './chat-template.ts';

export async function findChatTemplate(
  db: Db,
  account: AccountId,
  name: string,
  language: string,
): Promise<ChatTemplateDocument | undefined> {
  return (await templates(db).findOne({ _id: chatTemplateId(account, name, language) })) ?? undefined;
}

/** An account's templates of any status, sorted by name and language. */
export async function listChatTemplates(db: Db, account: AccountId): Promise<readonly ChatTemplateDocument[]> {
  return templates(db)
    .find({ _id: idsOf(account) })
    .sort({ _id: 1 })
    .toArray();
}

/** The fields that the list shows, sorted by name and language, in chunks. The texts, which may be long, are not read. */
export async function* readTemplateStatuses(
  db: Db,
  account: AccountId,
): AsyncGenerator<Pick<ChatTemplateDocument, 'name' | 'status' | 'language'>> {
  const projection = { name: 1, status: 1, language: 1 };
  const all = templates(db)
    .find({ _id: idsOf(account) }, { projection, batchSize: GROUP })
    .sort({ _id: 1 });
  for await (const { name, status, language } of all) yield { name, status, language };
}

/** The languages in which an account has a template of this name, whatever its status; at most twenty. */
export async function languagesOf(db: Db, account: AccountId, name: string): Promise<readonly string[]> {
  const found = await templates(db)
    .find({ _id: idsOf(account), name }, { projection: { language: 1 } })
    .sort({ _id: 1 })
    .limit(LANGUAGES_MAX)
    .toArray();
  return found.map(({ language }) => language);
}

/** Most languages shown in an answer. */
const LANGUAGES_MAX = 20;

/**
 * Templates written by one command: a few milliseconds for this process and the store. 36,000 at once blocked each for 350 ms.
 */
const GROUP = 250;

/**
 * Replaces the account's templates by the provider's current list: new and changed ones are written, others are removed. Not
 * atomic, but a template that stays is never missing. Repeating it writes the same.
 */
export async function replaceChatTemplates(
  db: Db,
  account: AccountId,
  listed: readonly ChatTemplateDocument[],
): Promise<void> {
  for (const group of inGroups(listed)) {
    const writes = group.map(({ _id, ...template }) => ({
      replaceOne: { filter: { _id }, replacement: template, upsert: true },
    }));
    await templates(db).bulkWrite(writes, { ordered: false });
  }
  const stays = new Set<TemplateId>(listed.map(({ _id }) => _id));
  const stored = templates(db).find({ _id: idsOf(account) }, { projection: { _id: 1 }, batchSize: GROUP });
  const gone: TemplateId[] = [];
  for await (const { _id } of stored) if (!stays.has(_id)) gone.push(_id);
  for (const group of inGroups(gone)) await templates(db).deleteMany({ _id: { $in: group } });
}

function inGroups<T>(all: readonly T[]): readonly T[][] {
  return Array.from({ length: Math.ceil(all.length / GROUP) }, (_, i) => all.slice(i * GROUP, (i + 1) * GROUP));
}

/**
 * Stores what a refused send or a callback said about a template, until the provider is asked again. Does nothing when there is
 * no such template.
 */
export async function markChatTemplate(
  db: Db,
  account: AccountId,
  name: string,
  language: string,
  status: ChatTemplateStatus,
): Promise<void> {
  await updateEach(db, 'chat_templates', [
    { filter: { _id: chatTemplateId(account, name, language) }, update: { $set: { status } } },
  ]);
}

/** A range of `_id`, so no further index is needed. The semicolon is the character after the colon. */
function idsOf(account: AccountId): { readonly $gt: TemplateId; readonly $lt: TemplateId } {
  // The ends are not ids themselves: one sorts before all ids of the account, the other after them.
  return { $gt: `${account}:` as TemplateId, $lt: `${account};` as TemplateId };
}

type TemplateId = ChatTemplateDocument['_id'];

function templates(db: Db): Collection<ChatTemplateDocument> {
  return db.collection('chat_templates');
}
