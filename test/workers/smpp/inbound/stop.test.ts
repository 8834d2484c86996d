import { changeOptOuts, listOptOuts } from '../../../../shared/carriers/opt-outs/store.ts';
import type { DeliveryDocument } from '../../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { systemClock as clock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { inboundWorldPerTest, NUMBER, PHONE } from './world.ts';

const EVENTS = ['message.received', 'recipient.opted_out', 'recipient.opted_in'] as const;

describe('smpp worker: a handset that writes STOP', () => {
  const open = inboundWorldPerTest();

  it('is on the list before the message is told, and each change of state is told once', async () => {
    const here = await open();
    await here.db.collection<EndpointDocument>('endpoints').insertOne({
      ...{ _id: newId('whk'), account: here.account, url: 'https://example.com/hook', secrets: [], place: 0 },
      ...{ channel: 'sms', events: EVENTS, status: 'active', createdAt: clock.now() },
    });
    const outs = () => listOptOuts(here.db, here.account, {}, undefined, 10);

    here.says({ text: ' Stop! ' });
    const [stopped] = await here.received(1);
    const whileOut = await outs();
    here.says({ text: 'stop it please' });
    await here.received(2);
    here.says({ text: 'START' });
    const all = await here.received(3);
    const deliveries = here.db.collection<DeliveryDocument>('deliveries');
    await eventually(async () => expect(await deliveries.countDocuments()).to.equal(5), 'all is told');

    expect(stopped?.optOut).to.equal('out');
    expect(whileOut.map(({ customer, scope, word }) => [customer, scope, word])).to.deep.equal([
      [PHONE, NUMBER, 'stop'],
    ]);
    expect(await outs()).to.deep.equal([]);
    expect(all.map(({ optOut }) => optOut)).to.deep.equal(['out', 'near', 'in']);
    const told = await deliveries.find().toArray();
    const events = told.map(({ body }) => JSON.parse(body) as { event: string; opt_out?: string });
    expect(events.map(({ event, opt_out: optOut }) => `${event} ${optOut ?? ''}`).sort()).to.deep.equal([
      'message.received in',
      'message.received near',
      'message.received out',
      'recipient.opted_in ',
      'recipient.opted_out ',
    ]);
    expect(events.find(({ event }) => event === 'recipient.opted_out')).to.include({
      message_id: stopped?._id,
      recipient: PHONE,
      number: NUMBER,
      word: ' Stop! ',
    });
  });

  it('leaves other messages as they are', async () => {
    const here = await open();
    await changeOptOuts(here.db, [
      { account: here.account, customer: PHONE, scope: '56161', kind: 'out', at: new Date(), source: 'api' },
    ]);

    here.says({ text: 'Where is my order?' });
    const [message] = await here.received(1);

    expect(message).not.to.have.property('optOut');
    expect(message?.history.map(({ state }: MessageDocument['history'][number]) => state)).to.deep.equal(['received']);
  });
});
