import type { Collection, Db } from 'mongodb';
import { withinQuota } from '../../money/accounts/quotas.ts';
import type { AccountId, RequestId } from '../../platform/runtime/ids.ts';
import { ALL_ANNOUNCED, type ChatTemplateDocument } from './chat-template.ts';
import type { ChatTemplateRequestDocument } from './template-request.ts';

type Id = ChatTemplateRequestDocument['_id'];
type Wish = Omit<ChatTemplateRequestDocument, 'due' | 'askedAt' | 'tries' | 'refusal' | 'unannounced' | 'place'>;

/**
 * Stores what an account wants of a template, in place of what it wanted before. False when the provider may already have been
 * asked for the earlier wish and has not answered: that answer must come first. Throws `QuotaReached` for one template more than an
 * account may ask for; one that the provider has may be edited and deleted whatever the account has asked for.
 */
export async function wishChatTemplate(db: Db, wish: Wish): Promise<boolean> {
  const { _id, ...rest } = wish;
  const earlier = await requests(db).findOne({ _id }, { projection: { request: 1, due: 1, askedAt: 1 } });
  const document = { ...rest, due: wish.requestedAt, tries: 0 };
  if (earlier === null) {
    const store = async (more: { readonly place?: number }): Promise<boolean> => {
      const fresh = { ...document, ...more };
      const { upsertedCount } = await requests(db).updateOne({ _id }, { $setOnInsert: fresh }, { upsert: true });
      return upsertedCount === 1;
    };
    if (wish.wants !== 'create') return store({});
    return withinQuota(db, 'chat_template_requests', wish.account, (place) => store({ place }));
  }
  if (earlier.due !== undefined && earlier.askedAt !== undefined) return false;
  // What was never asked for may be replaced while it waits; the worker marks it before it asks.
  const { matchedCount } = await requests(db).updateOne(
    { _id, request: earlier.request, $or: [{ due: { $exists: false } }, { askedAt: { $exists: false } }] },
    // Everything but `unannounced`: the end of the wish before is still to be announced.
    { $set: document, $unset: { askedAt: '', refusal: '', ...(wish.draft === undefined ? { draft: '' } : {}) } },
  );
  return matchedCount === 1;
}

/**
 * Removes the request for a template that the provider does not have: it was never asked for it, refused it, or has deleted it.
 * Returns whether it was removed. It stays while the provider may still do it, or while its end is still to be announced.
 */
export async function dropRequest(db: Db, id: Id): Promise<boolean> {
  const { deletedCount } = await requests(db).deleteOne({
    _id: id,
    ...ALL_ANNOUNCED,
    $or: [{ wants: 'create', askedAt: { $exists: false } }, { due: { $exists: false } }],
  });
  return deletedCount === 1;
}

export async function findChatTemplateRequests(
  db: Db,
  ids: readonly Id[],
): Promise<ReadonlyMap<Id, ChatTemplateRequestDocument>> {
  const found = await requests(db)
    .find({ _id: { $in: [...ids] } })
    .toArray();
  return new Map(found.map((request) => [request._id, request]));
}

/** The request with this id; undefined once a later one for the same template has replaced it. */
export async function findByRequest(
  db: Db,
  account: AccountId,
  request: RequestId,
): Promise<ChatTemplateRequestDocument | undefined> {
  return (await requests(db).findOne({ _id: idsBehind(account), request })) ?? undefined;
}

/** An account's requests, of one business account or all, by business account, name and language, behind `after`. */
export async function listChatTemplateRequests(
  db: Db,
  account: AccountId,
  { business, language, after }: { readonly [_ in 'business' | 'language' | 'after']?: string | undefined },
  limit: number,
): Promise<readonly ChatTemplateRequestDocument[]> {
  return requests(db)
    .find({ _id: idsBehind(account, after, business), ...(language === undefined ? {} : { language }) })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/**
 * The requests of these accounts that are due, in the order of account ids, oldest first within an account; but none for the
 * business accounts in `without`.
 */
export async function dueChatTemplateRequests(
  db: Db,
  accounts: readonly AccountId[],
  without: readonly string[],
  now: Date,
  limit: number,
): Promise<readonly ChatTemplateRequestDocument[]> {
  if (accounts.length === 0) return [];
  return requests(db)
    .find({
      account: { $in: [...accounts] },
      due: { $lte: now },
      ...(without.length > 0 && { business: { $nin: [...without] } }),
    })
    .sort({ account: 1, due: 1 })
    .limit(limit)
    .toArray();
}

/**
 * Call it before the provider is asked: from then on only the provider's list says what it has. False when the account wants
 * something else now.
 */
export async function markAsked(db: Db, { _id, request }: ChatTemplateRequestDocument, now: Date): Promise<boolean> {
  const { matchedCount } = await requests(db).updateOne(
    { _id, request, due: { $exists: true } },
    { $set: { askedAt: now } },
  );
  return matchedCount === 1;
}

/** The provider could not be asked, or did not say: it is asked again at `due`, after a look into its list. */
export async function askLater(db: Db, { _id, request }: ChatTemplateRequestDocument, due: Date): Promise<void> {
  await requests(db).updateOne({ _id, request, due: { $exists: true } }, { $set: { due }, $inc: { tries: 1 } });
}

/** The provider has done it. */
export async function finishRequest(db: Db, { _id, request }: ChatTemplateRequestDocument): Promise<void> {
  await requests(db).updateOne({ _id, request }, { $unset: { due: '', askedAt: '', refusal: '' } });
}

/** The provider refused it. The refusal of a new template is announced; of a change only the account learns, when it looks. */
export async function refuseRequest(
  db: Db,
  { _id, request, wants }: ChatTemplateRequestDocument,
  reason: string,
  at: Date,
): Promise<void> {
  await requests(db).updateOne(
    { _id, request, due: { $exists: true } },
    {
      $set: { refusal: reason },
      $unset: { due: '', askedAt: '' },
      ...(wants === 'create' ? { $push: { unannounced: { event: 'rejected', status: 'rejected', reason, at } } } : {}),
    },
  );
}

/** The template is gone at the provider. False while something of it is still to be announced: ask again then. */
export async function forgetTemplate(db: Db, { _id, request }: ChatTemplateRequestDocument): Promise<boolean> {
  const templates = db.collection<ChatTemplateDocument>('chat_templates');
  await templates.deleteOne({ _id, ...ALL_ANNOUNCED });
  if ((await templates.countDocuments({ _id })) > 0) return false;
  const { deletedCount } = await requests(db).deleteOne({ _id, request, ...ALL_ANNOUNCED });
  return deletedCount === 1;
}

/** Compared with ids only. The semicolon is the character after the colon. */
function idsBehind(account: AccountId, after?: string, business?: string): { readonly $gt: Id; readonly $lt: Id } {
  const owner = business === undefined ? account : `${account}:${business}`;
  return { $gt: (after === undefined ? `${owner}:` : `${account}:${after}`) as Id, $lt: `${owner};` as Id };
}

function requests(db: Db): Collection<ChatTemplateRequestDocument> {
  return db.collection('chat_template_requests');
}
