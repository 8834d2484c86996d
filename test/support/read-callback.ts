import { type CallbackPost, readCallback } from '../../gateway/endpoints/chatapp-callbacks/read-callback.ts';
import type { ProviderDocument } from '../../shared/providers/provider.ts';

/** Reads a callback post as if `provider` were the only one at its app, so that all of the post is for its account. */
export function readAlone(
  body: object,
  provider: Pick<ProviderDocument, '_id' | 'phoneNumberId' | 'businessId'>,
  now = new Date(),
): Promise<CallbackPost> {
  return readCallback({ ...body }, async (by, id) => (provider[by] === id ? [provider._id] : []), now);
}

/** The parts of all accounts joined. */
export function mergeParts({ parts, ignored }: CallbackPost) {
  return {
    items: parts.flatMap(({ items }) => items),
    inbound: parts.flatMap(({ inbound }) => inbound),
    notices: parts.flatMap(({ notices }) => notices),
    cut: parts.reduce((sum, { cut }) => sum + cut, 0),
    ignored,
  };
}
