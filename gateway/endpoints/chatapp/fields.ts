import { isMessageId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { Fault, type Kind, optional, required, string } from '../../http/fields/field.ts';
import { dryRun, HALF_CHARACTER, hasHalfCharacter, recipient, reference } from '../../http/fields/message-fields.ts';
import { validUntilFromNow } from '../../http/fields/times.ts';
import { fallback } from './fallback.ts';

/** The fields that every send of the chat-app channel has, in addition to its own. */
export const to = required(recipient('chatapp'));
const from = optional(
  string(
    {
      description:
        "Extension. Which of the account's numbers it leaves from: digits, as `GET /v2/chatapp/numbers` lists them. Without it a template leaves from the default number, anything else from the number that the customer wrote to last.",
      maxLength: 64,
    },
    (given) => given,
  ),
);

export const EXTENSIONS = { from, reference, valid_until: validUntilFromNow, fallback, dry_run: dryRun };

export type ChatFields = { readonly to: typeof to } & typeof EXTENSIONS;

/** Of everything but templates: WhatsApp shows a template as an answer to nothing. */
export const replyTo = optional(
  messageId(
    'Extension: the message of the conversation that this one answers, of the customer or your own. The customer sees it quoted.',
  ),
);

/** A message of the account, by our id. */
export function messageId(description: string): Kind<MessageId> {
  return string({ description, pattern: '^msg_[0-9a-z]{26}$' }, (given) =>
    isMessageId(given)
      ? given
      : new Fault('invalid_value', 'It must be the id of a message, as `message_id` shows it.'),
  );
}

interface TextLimits {
  readonly description: string;
  readonly maxLength: number;
  /** If true, a text with spaces at its ends is refused. */
  readonly trimmed?: true;
}

/** A text of at most `maxLength` characters that is not blank. */
export function text({ description, maxLength, trimmed }: TextLimits): Kind<string> {
  const pattern = trimmed ? '^\\S(?:[\\s\\S]*\\S)?$' : '\\S';
  return string({ description, minLength: 1, maxLength, pattern }, (given) => {
    if (!/\S/u.test(given)) return new Fault('too_short', 'It must have at least one character that is not a space.');
    const count = characters(given);
    if (count > maxLength) {
      return new Fault('too_long', `It has ${count} characters; at most ${maxLength} are allowed.`);
    }
    if (trimmed && given !== given.trim()) {
      return new Fault('invalid_value', 'It must not begin or end with a space.');
    }
    return hasHalfCharacter(given) ? new Fault('invalid_text', HALF_CHARACTER) : given;
  });
}

/**
 * Counts characters as the provider does: an emoji outside Unicode's first plane is one character, although its `length` is 2.
 */
export function characters(given: string): number {
  let count = 0;
  for (const _ of given) count++;
  return count;
}

/** Writes degrees with seven decimals (a centimetre), never in exponential form. */
export function degrees(value: number): string {
  return value.toFixed(7).replace(/\.?0+$/, '');
}
