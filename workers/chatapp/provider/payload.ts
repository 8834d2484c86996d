import type { ChatContent, ChatMessageDocument, Place } from '../../../shared/messages/document/chat-message.ts';
import { fileNameOf } from '../../../shared/messages/document/file-name.ts';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { interactiveOf } from './interactive-payload.ts';
import { templateOf } from './template-payload.ts';

/**
 * The JSON of one send, in the Cloud API's shape (WhatsApp Cloud API, "Messages": `POST
 * /{version}/{phone_number_id}/messages`). `biz_opaque_callback_data` carries our message id. Statuses repeat it, so
 * a send whose answer never came can be settled. `to`: digits with the country code, or a user id, as a message has it.
 */
export function sendPayload({
  _id,
  to,
  content,
  replyTo,
}: Pick<ChatMessageDocument, '_id' | 'to' | 'content' | 'replyTo'>): Buffer {
  return Buffer.from(
    JSON.stringify({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      ...addressOf(to),
      ...(replyTo === undefined ? {} : { context: { message_id: replyTo.upstreamId } }),
      ...bodyOf(content),
      biz_opaque_callback_data: _id,
    }),
  );
}

/**
 * A number has the plus sign: to one without it the provider prepends the country code of the business, so the message could
 * reach a stranger ("WhatsApp user phone number formats"). A user id is a `recipient`: in `to` it is accepted, and lost.
 */
function addressOf(to: string): object {
  return isCustomerUserId(to) ? { recipient: to } : { to: `+${to}` };
}

function bodyOf(content: ChatContent): object {
  switch (content.kind) {
    case 'text':
      return { type: 'text', text: { body: content.text, preview_url: false } };
    case 'template':
      return { type: 'template', template: templateOf(content) };
    case 'media':
      return {
        type: content.type,
        [content.type]: {
          link: content.url,
          // Without a name the customer sees "Untitled".
          ...(content.type === 'document' ? { filename: fileNameOf(content.url) } : {}),
          ...(content.caption === undefined ? {} : { caption: content.caption }),
        },
      };
    case 'buttons':
    case 'interactive':
      return { type: 'interactive', interactive: interactiveOf(content) };
    case 'location':
      return { type: 'location', location: locationOf(content.location) };
    case 'contacts':
      return { type: 'contacts', contacts: content.contacts };
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: content.reactsTo.upstreamId, emoji: content.emoji } };
  }
}

/** Degrees are strings, as in the samples of "Location messages"; its reference has numbers, and both are taken. */
function locationOf({ latitude, longitude, name, address }: Place): object {
  return { latitude, longitude, name, address };
}
