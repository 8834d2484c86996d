export type Channel = 'sms' | 'chatapp';

/** The events of each channel, as the catalogue of the gateway has them; a test compares the two. */
export const CHANNEL_EVENTS: Readonly<Record<Channel, readonly string[]>> = {
  sms: [
    ...['message.received', 'recipient.opted_out', 'recipient.opted_in', 'message.sent', 'message.delivered'],
    ...['message.failed', 'message.expired', 'message.rejected', 'template.approved', 'template.rejected'],
  ],
  chatapp: [
    ...['message.received', 'message.read', 'message.sent', 'message.delivered', 'message.failed', 'message.expired'],
    ...['message.rejected', 'template.approved', 'template.rejected', 'template.stopped'],
  ],
};
