import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { idTime } from '../../shared/runtime/ids.ts';
import { partRecords } from './part-record.ts';
import type { Happening, TextlessSms, View } from './view.ts';

/** What the API shows of an SMS. */
export const sms: View<TextlessSms> = {
  summaryFields: ['sender', 'route', 'batch', 'segments'],
  statusFields: ['segments'],
  textFields: ['text'],
  showsCarrier: true,

  operatorOf: ({ operator }) => operator ?? null,

  summary: ({ sender, route, segments }) => ({ channel: 'sms', sender, route, segments }),

  status: ({ segments }) => ({ segments }),

  whole: ({ encoding, validUntil, path, claim, tries, parts = [] }) => ({
    encoding,
    valid_until: isoTimestamp(validUntil),
    path,
    carrier: claim?.carrier ?? null,
    /** How many submits a carrier refused for now. */
    tries,
    parts: partRecords(parts, carrierMessageId),
  }),

  beginning({ _id, template, entityId, path }) {
    const at = idTime(_id);
    const matched: Happening = { at, what: 'template', more: { template_id: template, entity_id: entityId } };
    return [
      { at, what: 'accepted' },
      ...(template === undefined ? [] : [matched]),
      { at, what: 'path', more: { path } },
    ];
  },

  payment: ({ _id, group, refund }) => ({
    credits: CREDITS_PER_MESSAGE,
    debit: group,
    refund: refund ?? `ref_${_id}`,
  }),

  upstreamId: carrierMessageId,
};

/** The key of a part is the carrier's name, then this id (`Part` in shared/messages/message.ts). */
function carrierMessageId(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}
