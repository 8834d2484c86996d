import type { Db } from 'mongodb';
import type { TemplateChange, UnannouncedTemplateEvent } from '../../shared/events/template-change.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { ChatTemplateDocument } from '../../shared/templates/chat/chat-template.ts';
import type { ChatTemplateRequestDocument } from '../../shared/templates/chat/template-request.ts';
import type { TemplateDocument, UnannouncedDecision } from '../../shared/templates/sms/template.ts';
import type { TemplateRequestDocument } from '../../shared/templates/sms/template-request.ts';

/** Templates that are read at once. */
const GROUP = 200;

type Unannounced = UnannouncedTemplateEvent & Pick<UnannouncedDecision, 'request'>;

/** A template of any kind, with the decisions that are still to be announced. */
interface WithUnannounced {
  readonly _id: string;
  readonly unannounced?: readonly Unannounced[];
}

/**
 * Announces what was decided about templates: each decision is an entry of `unannounced` in the template's own document, added by
 * the update that decided. Announced twice, it is one delivery. Returns how many were announced.
 */
export async function announceTemplates(db: Db, announcer: Announcer): Promise<number> {
  const announced = await Promise.all([
    announce<TemplateDocument>(db, 'templates', announcer, ({ account, dltId, name }, { request }) => ({
      ...{ account, channel: 'sms', named: { template_id: request ?? dltId, name } },
      ...(request && { template: request }),
    })),
    announce<TemplateRequestDocument>(db, 'template_requests', announcer, ({ _id, account, name }) => ({
      ...{ account, channel: 'sms', named: { template_id: _id, name } },
    })),
    announce<ChatTemplateDocument>(db, 'chat_templates', announcer, ({ account, name, language, category }) => ({
      ...{ account, channel: 'chatapp', named: { name, language, category } },
    })),
    announce<ChatTemplateRequestDocument>(
      db,
      'chat_template_requests',
      announcer,
      ({ account, name, language, draft }) => ({
        ...{ account, channel: 'chatapp', named: { name, language, category: draft?.category ?? '' } },
      }),
    ),
  ]);
  return announced.reduce((sum, count) => sum + count, 0);
}

async function announce<T extends WithUnannounced>(
  db: Db,
  collection: string,
  announcer: Announcer,
  whose: (
    template: T,
    unannounced: Unannounced,
  ) => Pick<TemplateChange, 'account' | 'channel' | 'named'> & Partial<Pick<TemplateChange, 'template'>>,
): Promise<number> {
  const found = await db
    .collection<WithUnannounced>(collection)
    // The second condition lets MongoDB use the index.
    .find<T>({ 'unannounced.0': { $exists: true }, 'unannounced.at': { $gt: new Date(0) } })
    .limit(GROUP)
    .toArray();
  if (found.length === 0) return 0;
  const changes = found.flatMap((template) =>
    (template.unannounced ?? []).map((unannounced) => ({
      ...unannounced,
      template: template._id,
      ...whose(template, unannounced),
    })),
  );
  await announcer.announce(changes);
  await db.collection<WithUnannounced>(collection).bulkWrite(
    found.map(({ _id, unannounced = [] }) => ({
      updateOne: {
        filter: { _id },
        update: { $pull: { unannounced: { at: { $in: unannounced.map(({ at }) => at) } } } },
      },
    })),
    { ordered: false },
  );
  return changes.length;
}
