import request from 'supertest';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { MessageId } from '../../../../shared/platform/runtime/ids.ts';
import type { accountAtGateway } from '../../../support/account-gateway.ts';

type Site = ReturnType<typeof accountAtGateway>;

/** Sends one account's messages over HTTP, changes them in the store, and requests them. */
export function messagesAt(site: Site) {
  const ask = (id: string, as = site.key): request.Test =>
    request(site.url).get(`/v2/messages/${id}`).set('Authorization', `Bearer ${as}`);
  const messages = () => site.db.collection<MessageDocument>('messages');
  const sent = async (changes: Partial<MessageDocument> = {}): Promise<MessageId> => {
    const answer = await request(site.url)
      .post('/v2/send')
      .set('Authorization', `Bearer ${site.key}`)
      .send({ to: '919876543210', message: 'a secret text', sender: 'HARKRA' });
    const id: MessageId = answer.body.message_id;
    if (Object.keys(changes).length > 0) await messages().updateOne({ _id: id }, { $set: changes });
    return id;
  };
  /** That many seconds from now, so later than the message. */
  const soon = (seconds: number) => new Date(Date.now() + seconds * 1_000);
  return { ask, messages, sent, soon };
}
