import type { ChannelName, StoredMessage } from '../../../shared/messages/document/message.ts';
import { chatapp } from './chatapp.ts';
import { sms } from './sms.ts';
import type { TextlessMessage, View } from './view.ts';

const VIEWS = { sms, chatapp } as const satisfies Readonly<Record<ChannelName, object>>;

export const ALL_VIEWS: readonly View<TextlessMessage>[] = Object.values(VIEWS);

export function viewOf({ channel }: Pick<StoredMessage, 'channel'>): View<TextlessMessage> {
  return VIEWS[channel];
}
