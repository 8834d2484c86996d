import { type CallbackPost, readCallback } from '../../gateway/endpoints/chatapp-callbacks/read-callback.ts';
import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';

/** Reads a callback post as if `provider` were its app's only number. */
export function readAlone(
  body: object,
  provider: Pick<ProviderDocument, '_id' | 'account' | 'phoneNumberId' | 'businessId'>,
  now = new Date(),
): Promise<CallbackPost> {
  const owner = { number: provider._id, account: provider.account };
  return readCallback({ ...body }, async (by, id) => (provider[by] === id ? [owner] : []), now);
}

/** Joins the parts of all accounts. */
export function mergeParts({ parts, ignored }: CallbackPost) {
  return {
    items: parts.flatMap(({ items }) => items),
    inbound: parts.flatMap(({ inbound }) => inbound),
    notices: parts.flatMap(({ notices }) => notices),
    cut: parts.reduce((sum, { cut }) => sum + cut, 0),
    ignored,
  };
}
