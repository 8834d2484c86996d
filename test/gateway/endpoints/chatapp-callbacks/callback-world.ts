import request from 'supertest';
import type { InboxItemDocument } from '../../../../shared/messages/chat-inbox.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { callbackSignature } from '../../../support/chat-callback.ts';
import { makeProvider } from '../../../support/chatapp.ts';

/** A new provider for each test. For the body of a `describe`, like `accountAtGateway`. */
export function callbackWorld() {
  const gateway = accountAtGateway(0);
  let path = '';
  let verifyToken = '';
  beforeEach(async () => {
    // Posts name the number, which belongs to one account only.
    await gateway.db.collection('providers').deleteMany({});
    const made = await makeProvider(gateway.db, gateway.account);
    path = `/chatapp/callback/${made.provider.callback}`;
    verifyToken = made.verifyToken ?? '';
  });

  return {
    gateway,
    /** The provider posts here. */
    get path(): string {
      return path;
    },
    get verifyToken(): string {
      return verifyToken;
    },

    itemsOf: (): Promise<InboxItemDocument[]> =>
      gateway.db
        .collection<InboxItemDocument>('chat_inbox')
        .find({ account: gateway.account })
        .sort({ _id: 1 })
        .toArray(),

    post: (body: object | string, headers: Readonly<Record<string, string>> = {}, to = path) =>
      postSigned(gateway.url + to, body, headers),
  };
}

/** Posts as the provider does. `headers` add to the usual ones or replace them. */
export function postSigned(url: string, body: object | string, headers: Readonly<Record<string, string>> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return request(url)
    .post('')
    .set({ 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(text), ...headers })
    .send(text);
}
