import type { Db } from 'mongodb';
import { z } from 'zod';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type {
  Answered,
  ChatButton,
  ChatMessageDocument,
  InboundContent,
  ListSection,
  ProductSection,
} from '../../../shared/messages/document/chat-message.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import { flag, text } from '../../api/shapes.ts';
import { beginning } from '../../http/fields/field.ts';
import { saidOf, type TextRules, type WithText } from '../messages/texts.ts';

/** How much of a text is shown. Webhooks and `GET /v2/events` have all of it. */
const SHOWN_MAX = 4_096;
/** Messages per read. A text may have 64 KB: 500 at once held the event loop for 100 ms. */
const TOGETHER = 16;

export const WRITTEN = {
  body: text().optional(),
  body_cut: flag().optional(),
  choices: z
    .array(text())
    .meta({
      description:
        'Chat-app: what the customer can choose from: titles of buttons, of the rows of a list; ids of products.',
    })
    .optional(),
  reply_to: text(
    'Chat-app: the message that this one answers or reacts to, or whose button was pressed. Of what a customer wrote: only if it is one of yours.',
  ).optional(),
  group_id: text(
    'Chat-app: the group that it was written in. An answer goes to its author alone, and needs a session with the author.',
  ).optional(),
};

type Said = Shown<z.ZodObject<typeof WRITTEN>> & {
  readonly template?: string;
  readonly language?: string;
  readonly params?: readonly string[];
};

interface Content extends WithText, Pick<ChatMessageDocument, '_id' | 'replyTo'> {
  readonly content?: WithText['content'] & {
    readonly name?: string;
    readonly language?: string;
    readonly buttons?: readonly ChatButton[];
    readonly action?: { readonly sections?: readonly Partial<ListSection & ProductSection>[] };
    readonly reactsTo?: Answered;
  };
}

/** The result lacks messages without anything to show. */
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
        ...(content && rules.sent !== 'hidden' && choicesOf(content)),
        ...defined({ reply_to: (message.replyTo ?? content?.reactsTo)?.message }),
      });
    }
  }
  return said;
}

const FIELDS = {
  ...{ text: 1, verification: 1, 'inbound.body': 1, 'content.name': 1, 'content.language': 1, 'replyTo.message': 1 },
  ...{ 'inbound.more.group_id': 1, 'inbound.more.location': 1, 'inbound.more.contacts.name': 1 },
  ...{ 'content.kind': 1, 'content.type': 1, 'content.text': 1, 'content.body': 1, 'content.caption': 1 },
  ...{ 'content.params': 1, 'content.emoji': 1, 'content.location': 1, 'content.contacts.name': 1 },
  ...{ 'content.buttons.title': 1, 'content.action.sections': 1, 'content.reactsTo.message': 1 },
} as const;

/** Titles of reply buttons and rows, ids of products. */
function choicesOf({ buttons = [], action }: NonNullable<Content['content']>): {
  readonly choices?: readonly string[];
} {
  const listed = (action?.sections ?? []).flatMap(({ rows = [], products = [] }) => [
    ...rows.map(({ title }) => title),
    ...products,
  ]);
  const choices = [...buttons.map(({ title }) => title), ...listed];
  return choices.length === 0 ? {} : { choices };
}

/** A message in a group opens no session with its author (gateway/endpoints/chatapp-callbacks/account-part.ts). */
function groupOf({ more }: Pick<InboundContent, 'more'>): { readonly group_id?: string } {
  return typeof more?.group_id === 'string' ? { group_id: more.group_id } : {};
}

function shown(body: string): { readonly body: string; readonly body_cut?: true } {
  if (body.length <= SHOWN_MAX) return { body };
  return { body: beginning(body, SHOWN_MAX), body_cut: true };
}
