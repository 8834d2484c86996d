import type { Parts } from '../api/parts.ts';
import { createInbox } from '../endpoints/inbox/inbox.ts';
import { createReceivedSms } from '../endpoints/inbox/received-sms.ts';
import { createThread } from '../endpoints/inbox/thread.ts';
import { keyHandlers, type On } from './route.ts';

/** What the account did, and what its customers wrote. */
export function routeOverview(on: On, parts: Parts): void {
  const { reading } = parts;
  const key = keyHandlers(parts);
  on('/v2/account/inbox', { get: [...key('read'), createInbox(reading)] });
  on('/v2/account/inbox/:customer', { get: [...key('read'), createThread(reading)] });
  on('/v2/account/received-sms', { get: [...key('read'), createReceivedSms(reading)] });
}
