/**
 * The channels, in the order of lists. `isCarried`: carriers take its messages, so they wait in the queue, each is paid for by itself,
 * and a carrier holds its claim. What a channel does with messages: shared/messages/channels.
 */
const CHANNELS = {
  sms: { isCarried: true },
  chatapp: { isCarried: false },
} as const satisfies Readonly<Record<string, { readonly isCarried: boolean }>>;

export type ChannelName = keyof typeof CHANNELS;
export type CarriedChannel = {
  [Name in ChannelName]: (typeof CHANNELS)[Name]['isCarried'] extends true ? Name : never;
}[ChannelName];

export const CHANNEL_NAMES = Object.keys(CHANNELS) as readonly ChannelName[]; // the table's own keys

export function isCarried(channel: ChannelName): channel is CarriedChannel {
  return CHANNELS[channel].isCarried;
}
