import { z } from 'zod';
import { objectOf } from '../../../shared/carriers/providers/graph-error.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type {
  ChatContact,
  ChatContent,
  ContentType,
  InboundContent,
  Place,
} from '../../../shared/messages/document/chat-message.ts';
import { maskCodes, receivedTextsFor, type Texts, textsFor } from '../../access/texts.ts';
import type { Shown } from '../../api/endpoint.ts';
import { text } from '../../api/shapes.ts';
import type { Requester } from '../../http/context.ts';

/** A message's text, for those who may read it (gateway/access/texts.ts). Lists and logs never have it. */
export const SAID = {
  text: text(
    'What it says: the text of an SMS, the caption of a file, the body over buttons, a place with its degrees, the names of contacts, an emoji. Null if it has none.',
    {
      example: 'Your parcel has left.',
    },
  )
    .nullable()
    .optional(),
  params: z.array(text()).meta({ description: 'Chat-app: the values of a template.' }).optional(),
  text_shown: z
    .enum(['whole', 'masked', 'hidden', 'removed'])
    .meta({
      description:
        '`masked`: digits of codes are not shown to you; of a verification, to nobody. `hidden`: the account does not show you its texts. `removed`: texts are kept no longer than this (`HARKARA_TEXT_DAYS`).',
      example: 'whole',
    })
    .optional(),
};

/** How much a requester may see of texts that the account sent and received. */
export interface TextRules {
  readonly sent: Texts;
  readonly received: Texts;
}

export function textRulesFor(requester: Pick<Requester, 'who' | 'account' | 'scopes'>): TextRules {
  return { sent: textsFor(requester), received: receivedTextsFor(requester) };
}

/** The parts of a stored message that have its text. Absent once the text was removed. */
export interface WithText {
  readonly text?: AnyMessage extends { readonly text: infer T } ? T : string;
  readonly content?: Partial<ContentText>;
  readonly inbound?: Partial<Pick<InboundContent, 'body' | 'more'>>;
  /** The message has a code of ours, which nobody may see. */
  readonly verification?: AnyMessage['verification'];
}

interface ContentText {
  readonly kind: ChatContent['kind'];
  readonly type: ContentType;
  readonly text: string;
  readonly body: string;
  readonly caption: string;
  readonly params: readonly string[];
  readonly emoji: string;
  readonly location: Place;
  readonly contacts: readonly Pick<ChatContact, 'name'>[];
}

export function saidOf(message: WithText, rules: TextRules): Pick<Shown<z.ZodObject<typeof SAID>>, keyof typeof SAID> {
  const allowed = message.inbound === undefined ? rules.sent : rules.received;
  if (allowed === 'hidden') return { text: null, text_shown: 'hidden' };
  const rule = message.verification === undefined ? allowed : 'masked';
  const { text, content, inbound } = message;
  const words = text ?? (inbound && wordsReceived(inbound)) ?? (content && wordsOf(content));
  const params = content?.params;
  if (words === undefined && params === undefined && !mayHaveNone(content)) {
    return { text: null, text_shown: 'removed' };
  }
  const said = (one: string): string => (rule === 'masked' ? maskCodes(one) : one);
  return {
    text: words === undefined ? null : said(words),
    ...(params && { params: params.map(said) }),
    text_shown: rule,
  };
}

function wordsOf({ text, body, caption, emoji, location, contacts }: Partial<ContentText>): string | undefined {
  return text ?? body ?? caption ?? emoji ?? (location && placeInWords(location)) ?? (contacts && namesOf(contacts));
}

/** Places and contacts from customers are the provider's JSON, unchecked (`more`). */
function wordsReceived({ body, more }: NonNullable<WithText['inbound']>): string | undefined {
  const place = objectOf(more?.location);
  if (place !== undefined) {
    const { latitude, longitude, name, address } = place;
    return placeInWords({
      ...{ latitude: String(latitude), longitude: String(longitude) },
      ...(typeof name === 'string' && { name }),
      ...(typeof address === 'string' && { address }),
    });
  }
  const cards = Array.isArray(more?.contacts) ? more.contacts : [];
  const names = cards.map((card) => objectOf(objectOf(card)?.name)?.formatted_name);
  return names.filter((name) => typeof name === 'string').join(', ') || body;
}

function placeInWords({ name = '', address = '', latitude, longitude }: Place): string {
  const place = [name, address].filter((one) => one !== '').join(', ');
  const degrees = `${latitude}, ${longitude}`;
  return place === '' ? degrees : `${place} (${degrees})`;
}

function namesOf(contacts: readonly Pick<ChatContact, 'name'>[]): string {
  return contacts.map(({ name }) => name.formatted_name).join(', ');
}

/** A file without a caption, and a product, have no words. */
function mayHaveNone(content: Partial<ContentText> | undefined): boolean {
  return content?.kind === 'media' || content?.type === 'product';
}
