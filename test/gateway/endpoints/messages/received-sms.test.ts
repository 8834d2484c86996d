import request from 'supertest';
import { type DeliveryDocument, deliveryId } from '../../../../shared/events/webhooks/delivery.ts';
import type { InboundSmsDocument } from '../../../../shared/messages/document/any-message.ts';
import { eventId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeAccount, makeInboundSms, makeMessage } from '../../../support/make.ts';
import { schemaFault } from '../../../support/openapi.ts';

describe('reading back: SMS that were received', () => {
  const site = accountAtGateway(0);
  const ask = (path: string) => request(site.url).get(path).set('authorization', `Bearer ${site.key}`);

  async function receive(
    account = site.account,
    more: Partial<Pick<InboundSmsDocument, 'history' | 'optOut'>> = {},
  ): Promise<InboundSmsDocument> {
    const message = makeInboundSms({ account, ...more });
    await site.db.collection<InboundSmsDocument>('messages').insertOne(message);
    return message;
  }

  for (const direction of ['in', 'inbound']) {
    it(`GET /v2/messages?direction=${direction} has them, and nothing that was sent`, async () => {
      const { _id } = await receive();
      await site.db.collection('messages').insertOne(makeMessage({ account: site.account }) as never);
      await receive(await makeAccount(site.db, 0));

      const { body } = await ask(`/v2/messages?direction=${direction}`).expect(200);

      expect(body.data).to.have.length(1);
      const { created_at: _, ...rest } = body.data[0];
      expect(rest).to.deep.equal({
        ...{ message_id: _id, to: '56161', status: 'received', delivered_at: null, operator: null },
        ...{ channel: 'sms', direction: 'in', from: '919811112222', type: 'text' },
      });
      expect(schemaFault('#/components/schemas/MessagePage', body)).to.equal(undefined);
      expect(JSON.stringify(body)).not.to.include('secret');
    });
  }

  for (const direction of ['out', 'outbound']) {
    it(`GET /v2/messages?direction=${direction} has only what was sent`, async () => {
      await receive();
      const message = makeMessage({ account: site.account });
      await site.db.collection('messages').insertOne(message as never);

      const { body } = await ask(`/v2/messages?direction=${direction}`).expect(200);

      expect(body.data.map((one: { message_id: string }) => one.message_id)).to.deep.equal([message._id]);
      expect(body.data[0]).not.to.have.any.keys('direction', 'from', 'type');
    });
  }

  it('another direction is refused with the names that there are', async () => {
    const { body } = await ask('/v2/messages?direction=both').expect(400);

    expect(body.errors[0].detail).to.include('inbound, outbound');
  });

  it('GET /v2/status and GET /v2/messages/{id} show one, at no price; the status without its text', async () => {
    const { _id } = await receive();

    const { body: status } = await ask(`/v2/status/${_id}`).expect(200);
    const { body: whole } = await ask(`/v2/messages/${_id}`).expect(200);

    expect(status).to.include({ channel: 'sms', direction: 'in', from: '919811112222', status: 'received' });
    expect(status.timeline).to.have.length(1);
    expect(whole).to.include({ carrier: 'acme', type: 'text', to: '56161' });
    expect(whole.timeline.map(({ what }: { what: string }) => what)).to.deep.equal(['state']);
    expect(JSON.stringify(status)).not.to.include('secret');
    expect(whole).to.include({ text: 'a secret order' });
    expect(schemaFault('#/components/schemas/DeliveryStatus', status)).to.equal(undefined);
    expect(schemaFault('#/components/schemas/WholeMessage', whole)).to.equal(undefined);
  });

  for (const [sign, state] of [
    ['out', 'opted_out'],
    ['in', 'opted_in'],
  ] as const) {
    it(`one that changed an opt-out (${state}) is shown as the contract says, with its delivery`, async () => {
      const at = new Date();
      const history = (['received', state] as const).map((one, i) => ({ state: one, at: new Date(at.getTime() + i) }));
      const { _id } = await receive(site.account, { optOut: sign, history });
      const endpoint = newId('whk');
      const eventOf = eventId(_id, state);
      await site.db.collection('endpoints').insertOne({ _id: endpoint, account: site.account } as never);
      await site.db.collection<DeliveryDocument>('deliveries').insertOne({
        ...{ _id: deliveryId(eventOf, endpoint), account: site.account, endpoint, eventId: eventOf, message: _id },
        ...{ event: `recipient.${state}`, body: '', state: 'done', createdAt: at },
        attempts: [{ at, result: 200, durationMs: 12 }],
      });

      const { body: status } = await ask(`/v2/status/${_id}`).expect(200);
      const { body: whole } = await ask(`/v2/messages/${_id}`).expect(200);

      expect(status.timeline.map((one: { status: string }) => one.status)).to.deep.equal(['received', state]);
      expect(whole.webhooks.map(({ event }: { event: string }) => event)).to.deep.equal([`recipient.${state}`]);
      expect(schemaFault('#/components/schemas/DeliveryStatus', status)).to.equal(undefined);
      expect(schemaFault('#/components/schemas/WholeMessage', whole)).to.equal(undefined);
    });
  }

  it('GET /v2/events has the payload that webhooks get', async () => {
    const { _id } = await receive();

    const { body } = await ask('/v2/events?event=message.received').expect(200);

    const { timestamp: _, ...event } = body.data[0];
    expect(event).to.deep.equal({
      ...{ event_id: `evt_${_id.slice(4)}_received`, event: 'message.received', from: '919811112222', message_id: _id },
      ...{ type: 'text', body: 'a secret order', to: '56161', channel: 'sms' },
    });
    expect(schemaFault('#/components/schemas/EventPage', body)).to.equal(undefined);
  });
});
