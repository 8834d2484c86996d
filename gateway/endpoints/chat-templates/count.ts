import type { Db } from 'mongodb';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { ChatTemplateDocument } from '../../../shared/templates/chat/chat-template.ts';
import type { ChatTemplateRequestDocument } from '../../../shared/templates/chat/template-request.ts';

/**
 * The account's chat-app templates by state, and how many requests the provider is still to be asked for. The dashboard reads its
 * list again when this changes.
 */
export async function countChatTemplates(db: Db, account: AccountId): Promise<object> {
  const [states, waiting] = await Promise.all([
    db
      .collection<ChatTemplateDocument>('chat_templates')
      .aggregate<{ readonly _id: string; readonly count: number }>([
        // A range of `_id`. The semicolon is the character after the colon.
        { $match: { _id: { $gt: `${account}:`, $lt: `${account};` } } },
        { $group: { _id: '$status', count: { $sum: 1 } } },
        { $sort: { _id: 1 } },
      ])
      .toArray(),
    db
      .collection<ChatTemplateRequestDocument>('chat_template_requests')
      .countDocuments({ account, due: { $exists: true } }),
  ]);
  return { states: Object.fromEntries(states.map(({ _id, count }) => [_id, count])), waiting };
}
