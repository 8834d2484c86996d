import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { InboundContent } from '../../../shared/messages/document/chat-message.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import { flag, text } from '../../api/shapes.ts';
import { beginning } from '../../http/fields/beginning.ts';
import { saidOf, type TextRules, type WithText } from '../messages/texts.ts';

/** Characters of a text that are shown. Webhooks and `GET /v2/events` have all of it. */
const SHOWN_MAX = 4_096;
/** Messages of one read. A text may have 64 KB: 500 of them at once held the event loop for 100 ms. */
const TOGETHER = 32;

/** What is shown of what was written. */
export const WRITTEN = {
  body: text().optional(),
  body_cut: flag().optional(),
  group_id: text(
    'Chat-app: the group that it was written in. An answer goes to its author alone, and needs a session with the author.',
  ).optional(),
};

/** What was written, and in which group; of a template which one was sent, with its values. */
interface Said {
  readonly body?: string;
  readonly body_cut?: true;
  readonly group_id?: string;
  readonly template?: string;
  readonly language?: string;
  readonly params?: readonly string[];
}

interface Content extends WithText {
  readonly _id: MessageId;
  readonly inbound?: Pick<InboundContent, 'body' | 'more'>;
  readonly content?: WithText['content'] & { readonly name?: string; readonly language?: string };
}

/** What is shown of the contents of these messages. Messages of which nothing is shown are missing. */
export async function readSaid(
  db: Db,
  account: AccountId,
  ids: readonly MessageId[],
  rules: TextRules,
): Promise<ReadonlyMap<MessageId, Said>> {
  const said = new Map<MessageId, Said>();
  for (let start = 0; start < ids.length; start += TOGETHER) {
    const some = ids.slice(start, start + TOGETHER);
    const found = await db
      .collection<AnyMessage>('messages')
      .find({ _id: { $in: some }, account }, { projection: FIELDS, batchSize: TOGETHER + 1 })
      .toArray();
    for (const message of found as readonly Content[]) {
      const { inbound, content } = message;
      const { text, params } = saidOf(message, rules);
      said.set(message._id, {
        ...(typeof text === 'string' && shown(text)),
        ...(inbound !== undefined && groupOf(inbound)),
        ...(content?.name !== undefined && { template: content.name, language: content.language ?? '' }),
        ...(params && { params }),
      });
    }
  }
  return said;
}

const FIELDS = {
  ...{ text: 1, 'inbound.body': 1, 'inbound.more.group_id': 1, 'content.name': 1, 'content.language': 1 },
  ...{ 'content.kind': 1, 'content.text': 1, 'content.body': 1, 'content.caption': 1, 'content.params': 1 },
} as const;

/** A message in a group opens no session with its author (gateway/endpoints/chatapp-callbacks/account-part.ts). */
function groupOf({ more }: Pick<InboundContent, 'more'>): { readonly group_id?: string } {
  return typeof more?.group_id === 'string' ? { group_id: more.group_id } : {};
}

function shown(body: string): { readonly body: string; readonly body_cut?: true } {
  if (body.length <= SHOWN_MAX) return { body };
  return { body: beginning(body, SHOWN_MAX), body_cut: true };
}
