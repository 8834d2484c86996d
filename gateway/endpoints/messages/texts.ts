import { z } from 'zod';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { ChatContent } from '../../../shared/messages/document/chat-message.ts';
import { maskCodes, receivedTextsFor, type Texts, textsFor } from '../../access/texts.ts';
import type { Shown } from '../../api/endpoint.ts';
import { text } from '../../api/shapes.ts';
import type { Requester } from '../../http/context.ts';

/** What a message says, for those who may read it (gateway/access/texts.ts). Lists and logs never have it. */
export const SAID = {
  text: text('What it says: the text of an SMS, the caption of a file, the body over buttons. Null if it has none.', {
    example: 'Your parcel has left.',
  })
    .nullable()
    .optional(),
  params: z.array(text()).meta({ description: 'Chat-app: the values of a template.' }).optional(),
  text_shown: z
    .enum(['whole', 'masked', 'hidden', 'removed'])
    .meta({
      description:
        '`masked`: digits of codes are not shown to you. `hidden`: the account does not show you its texts. `removed`: texts are kept no longer than this (`TEXT_DAYS`).',
      example: 'whole',
    })
    .optional(),
};

/** How much a requester is shown of what the account sent, and of what customers wrote to it. */
export interface TextRules {
  readonly sent: Texts;
  readonly received: Texts;
}

export function textRulesFor(requester: Pick<Requester, 'who' | 'account' | 'scopes'>): TextRules {
  return { sent: textsFor(requester), received: receivedTextsFor(requester) };
}

/** Those parts of a stored message that have its text. They are missing when the text was removed. */
export interface WithText {
  readonly text?: AnyMessage extends { readonly text: infer T } ? T : string;
  readonly content?: Partial<ContentText>;
  readonly inbound?: { readonly body?: string };
}

interface ContentText {
  readonly kind: ChatContent['kind'];
  readonly text: string;
  readonly body: string;
  readonly caption: string;
  readonly params: readonly string[];
}

export function saidOf(message: WithText, rules: TextRules): Pick<Shown<z.ZodObject<typeof SAID>>, keyof typeof SAID> {
  const rule = message.inbound === undefined ? rules.sent : rules.received;
  if (rule === 'hidden') return { text: null, text_shown: 'hidden' };
  const { text, content, inbound } = message;
  const words = text ?? inbound?.body ?? content?.text ?? content?.body ?? content?.caption;
  const params = content?.params;
  if (words === undefined && params === undefined && content?.kind !== 'media') {
    return { text: null, text_shown: 'removed' };
  }
  const said = (one: string): string => (rule === 'masked' ? maskCodes(one) : one);
  return {
    text: words === undefined ? null : said(words),
    ...(params && { params: params.map(said) }),
    text_shown: rule,
  };
}
