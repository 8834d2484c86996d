import type { Db } from 'mongodb';
import { optedInOf } from '../../shared/carriers/chat-opt-in-store.ts';
import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { MessageId } from '../../shared/platform/runtime/ids.ts';
import type { Departure } from './depart.ts';

const NOT_OPTED_IN: Departure = {
  kind: 'refuse',
  code: 'recipient_not_opted_in',
  reason: 'The customer was not on the opt-in list any more when the message could leave.',
};

/**
 * Refuses templates to customers who are not on the account's opt-in list, where the provider's settings ask for one.
 * They were on it when the messages were accepted, which may be days ago. Reads the list each time.
 */
export async function refusedByOptIn(
  db: Db,
  { _id: account, optIn }: Pick<ProviderDocument, '_id' | 'optIn'>,
  messages: readonly ChatMessageDocument[],
): Promise<ReadonlyMap<MessageId, Departure>> {
  const templates = optIn === 'list' ? messages.filter(({ content }) => content.kind === 'template') : [];
  if (templates.length === 0) return new Map();
  const optedIn = await optedInOf(
    db,
    account,
    templates.map(({ to }) => to),
  );
  return new Map(templates.flatMap(({ _id, to }) => (optedIn.has(to) ? [] : [[_id, NOT_OPTED_IN]])));
}
