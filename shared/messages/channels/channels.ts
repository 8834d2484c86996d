import type { Db } from 'mongodb';
import type { AnyMessage } from '../document/any-message.ts';
import type { ChannelName } from '../document/message.ts';
import type { Channel } from './channel.ts';
import { chatapp } from './chatapp.ts';
import { sms } from './sms.ts';

/** All channels, in the order of lists. */
const CHANNELS = { sms, chatapp } as const satisfies Readonly<Record<ChannelName, object>>;

export const CHANNEL_NAMES = Object.keys(CHANNELS) as readonly ChannelName[]; // the registry's own keys

export function channelOf({ channel }: Pick<AnyMessage, 'channel'>): Channel<AnyMessage> {
  return CHANNELS[channel];
}

/** Lets each channel refund those of these messages that were never taken. May be called again after a crash. */
export async function refundByChannel(db: Db, messages: readonly AnyMessage[]): Promise<void> {
  for (const name of CHANNEL_NAMES) {
    const own = messages.filter((message) => message.channel === name);
    if (own.length > 0) await channelOf({ channel: name }).refund(db, own);
  }
}
