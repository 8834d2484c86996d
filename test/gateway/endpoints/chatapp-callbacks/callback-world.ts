import request from 'supertest';
import type { InboxItemDocument } from '../../../../shared/messages/chat-inbox.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { callbackSignature } from '../../../support/chat-callback.ts';
import { makeProvider } from '../../../support/chatapp.ts';

/** An account at a gateway. It gets a new provider for each test. For the body of a `describe`, like `accountAtGateway`. */
export function callbackWorld() {
  const gateway = accountAtGateway(0);
  let path = '';
  let verifyToken = '';
  beforeEach(async () => {
    // A number, which posts name, belongs to one account.
    await gateway.db.collection('providers').deleteMany({});
    const made = await makeProvider(gateway.db, gateway.account);
    path = `/chatapp/callback/${made.provider.callback}`;
    verifyToken = made.verifyToken ?? '';
  });

  return {
    gateway,
    /** The path that the provider posts to. */
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

/** Posts `body` as the provider does. `headers` are added to the usual ones or replace them. */
export function postSigned(url: string, body: object | string, headers: Readonly<Record<string, string>> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return request(url)
    .post('')
    .set({ 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(text), ...headers })
    .send(text);
}
