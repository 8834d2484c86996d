import type { EntryOf } from '../../../api/endpoint.ts';
import type { messages } from '../../../endpoints/messages/messages.ts';

type Channel = EntryOf<typeof messages>['channel'];

/** How people call the channels, in the order of lists. */
export const CHANNEL_WORDS: Readonly<Record<Channel, string>> = { sms: 'SMS', chatapp: 'Chat-app' };

/** For a choice of one. */
export const CHANNEL_CHOICES = Object.entries(CHANNEL_WORDS) as readonly (readonly [Channel, string])[]; // its own keys
