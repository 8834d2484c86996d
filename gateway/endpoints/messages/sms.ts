import { pathOf } from '../../../shared/messages/document/routing.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime } from '../../../shared/platform/runtime/ids.ts';
import {
  type Happening,
  type MessageStatus,
  type MessageSummary,
  partRecords,
  type TextlessInboundSms,
  type TextlessSms,
  type View,
} from './view.ts';

/** What the API shows of an SMS, in either direction. */
export const sms: View<TextlessSms | TextlessInboundSms> = {
  summaryFields: ['sender', 'route', 'batch', 'segments', 'direction', 'from', 'inbound.type'],
  statusFields: ['segments', 'direction', 'from'],
  textFields: ['text', 'inbound.body', 'inbound.more'],
  showsCarrier: true,

  operatorOf: ({ operator }) => operator ?? null,

  summary(message) {
    const { direction, sender, route, segments, inbound } = message;
    return direction === 'in'
      ? { ...received(message), type: inbound?.type }
      : { channel: 'sms', sender, route, segments };
  },

  status: (message) => (message.direction === 'in' ? received(message) : { segments: message.segments }),

  whole(message) {
    if ('inbound' in message) return { carrier: message.carrier };
    const {
      encoding,
      validUntil,
      route,
      claim,
      tries,
      inReplyTo,
      resendOf,
      fallbackOf,
      verification,
      parts = [],
    } = message;
    return {
      encoding,
      valid_until: isoTimestamp(validUntil),
      // Customers do not see which other carriers could have carried it.
      path: pathOf(route),
      carrier: claim?.carrier ?? null,
      // JSON leaves it out where there is none.
      in_reply_to: inReplyTo,
      resend_of: resendOf,
      fallback_of: fallbackOf,
      verification_id: verification,
      /** How many submits a carrier refused for now. */
      tries,
      parts: partRecords(parts, carrierMessageId),
    };
  },

  beginning(message) {
    if ('inbound' in message) return [];
    const { _id, template, entityId, route } = message;
    const at = idTime(_id);
    const matched: Happening = { at, what: 'template', more: { template_id: template, entity_id: entityId } };
    return [
      { at, what: 'accepted' },
      ...(template === undefined ? [] : [matched]),
      { at, what: 'path', more: { path: pathOf(route) } },
    ];
  },

  payment(message) {
    if ('inbound' in message) return { credits: 0 };
    const { _id, group, refund } = message;
    return { credits: creditsOf(message), debit: group, refund: refund ?? `ref_${_id}` };
  },

  upstreamId: carrierMessageId,
};

/** Of a received SMS: the sender and the direction. `to` is the account's number. */
function received({ direction, from }: MessageStatus | MessageSummary) {
  return { channel: 'sms', direction, from } as const;
}

/** The key of a part is the carrier's name, then this id (`Part` in shared/messages/document/message.ts). */
function carrierMessageId(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}
