import type { Db } from 'mongodb';
import type { OwedTemplateEvent, TemplateChange } from '../../shared/events/template-change.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { ChatTemplateDocument } from '../../shared/templates/chat/chat-template.ts';
import type { ChatTemplateRequestDocument } from '../../shared/templates/chat/template-request.ts';
import type { OwedDecision, TemplateDocument } from '../../shared/templates/sms/template.ts';
import type { TemplateRequestDocument } from '../../shared/templates/sms/template-request.ts';

/** Templates that are read at once. */
const GROUP = 200;

type Owed = OwedTemplateEvent & Pick<OwedDecision, 'request'>;

/** A template of any kind, with the decisions that webhooks are still to be told. */
interface Owing {
  readonly _id: string;
  readonly owed?: readonly Owed[];
}

/**
 * Tells webhooks what was decided about templates: each decision is an entry of `owed` in the template's own document, added by
 * the update that decided. Told twice, it is one delivery. Returns how many were told.
 */
export async function tellTemplates(db: Db, announcer: Announcer): Promise<number> {
  const told = await Promise.all([
    tell<TemplateDocument>(db, 'templates', announcer, ({ account, dltId, name }, { request }) => ({
      ...{ account, channel: 'sms', named: { template_id: request ?? dltId, name } },
      ...(request && { template: request }),
    })),
    tell<TemplateRequestDocument>(db, 'template_requests', announcer, ({ _id, account, name }) => ({
      ...{ account, channel: 'sms', named: { template_id: _id, name } },
    })),
    tell<ChatTemplateDocument>(db, 'chat_templates', announcer, ({ account, name, language, category }) => ({
      ...{ account, channel: 'chatapp', named: { name, language, category } },
    })),
    tell<ChatTemplateRequestDocument>(
      db,
      'chat_template_requests',
      announcer,
      ({ account, name, language, draft }) => ({
        ...{ account, channel: 'chatapp', named: { name, language, category: draft?.category ?? '' } },
      }),
    ),
  ]);
  return told.reduce((sum, count) => sum + count, 0);
}

async function tell<T extends Owing>(
  db: Db,
  collection: string,
  announcer: Announcer,
  whose: (
    template: T,
    owed: Owed,
  ) => Pick<TemplateChange, 'account' | 'channel' | 'named'> & Partial<Pick<TemplateChange, 'template'>>,
): Promise<number> {
  const owing = await db
    .collection<Owing>(collection)
    // The second condition lets MongoDB use the index.
    .find<T>({ 'owed.0': { $exists: true }, 'owed.at': { $gt: new Date(0) } })
    .limit(GROUP)
    .toArray();
  if (owing.length === 0) return 0;
  const changes = owing.flatMap((template) =>
    (template.owed ?? []).map((owed) => ({
      ...owed,
      template: template._id,
      ...whose(template, owed),
    })),
  );
  await announcer.announce(changes);
  await db.collection<Owing>(collection).bulkWrite(
    owing.map(({ _id, owed = [] }) => ({
      updateOne: { filter: { _id }, update: { $pull: { owed: { at: { $in: owed.map(({ at }) => at) } } } } },
    })),
    { ordered: false },
  );
  return changes.length;
}
