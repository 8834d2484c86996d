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

/** An account's, whatever their status, by name and language. */
export async function listChatTemplates(db: Db, account: AccountId): Promise<readonly ChatTemplateDocument[]> {
  return templates(db)
    .find({ _id: idsOf(account) })
    .sort({ _id: 1 })
    .toArray();
}

/** In which languages an account has a template of this name, whatever their status; twenty at most. */
export async function languagesOf(db: Db, account: AccountId, name: string): Promise<readonly string[]> {
  const found = await templates(db)
    .find({ _id: idsOf(account), name }, { projection: { language: 1 } })
    .sort({ _id: 1 })
    .limit(LANGUAGES_MAX)
    .toArray();
  return found.map(({ language }) => language);
}

/** Shown in an answer. */
const LANGUAGES_MAX = 20;

/**
 * Makes the account's templates those that the provider lists now: new and changed ones are written, others go. Not atomic:
 * a template that stays is there all the time. Doing it twice writes the same.
 */
export async function replaceChatTemplates(
  db: Db,
  account: AccountId,
  listed: readonly ChatTemplateDocument[],
): Promise<void> {
  await templates(db).bulkWrite(
    [
      ...listed.map(({ _id, ...template }) => ({
        replaceOne: { filter: { _id }, replacement: template, upsert: true },
      })),
      { deleteMany: { filter: { _id: { ...idsOf(account), $nin: listed.map(({ _id }) => _id) } } } },
    ],
    { ordered: false },
  );
}

/**
 * What a refused send or a callback told of a template, until the provider is asked again. Nothing when there is no such
 * template.
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

/** A range of `_id`: no index is needed for it. The semicolon comes right after the colon. */
function idsOf(account: AccountId): { readonly $gt: TemplateId; readonly $lt: TemplateId } {
  // The ends are no ids themselves: texts before and behind all those of the account.
  return { $gt: `${account}:` as TemplateId, $lt: `${account};` as TemplateId };
}

type TemplateId = ChatTemplateDocument['_id'];

function templates(db: Db): Collection<ChatTemplateDocument> {
  return db.collection('chat_templates');
}
