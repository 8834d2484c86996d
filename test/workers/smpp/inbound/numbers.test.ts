import { addNumber } from '../../../../shared/carriers/numbers/store.ts';
import { readScopes } from '../../../../shared/carriers/opt-outs/store.ts';
import type { DeliveryDocument } from '../../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import type { InboundSmsDocument } from '../../../../shared/messages/document/any-message.ts';
import type { InboundDocument } from '../../../../shared/messages/inbound.ts';
import { systemClock as clock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeAccount } from '../../../support/make.ts';
import { bodies, inboundWorldPerTest, NUMBER, PHONE } from './world.ts';

const SHORT_CODE = '56161';

describe('smpp worker: whose a message of a handset is', () => {
  const open = inboundWorldPerTest();

  it('by number and keyword: the exact keyword, else the account of the number itself', async () => {
    const here = await open();
    const pizza = await makeAccount(here.db, 0);
    const taxi = await makeAccount(here.db, 0);
    await addNumber(here.db, clock, { number: SHORT_CODE, keyword: 'pizza', account: pizza });
    await addNumber(here.db, clock, { number: SHORT_CODE, keyword: '', account: taxi });
    const texts = ['PIZZA two please', '“Pizza!” now', '\u200bpiz\u200dza', 'pizzas', 'a pizza', '?!', 'ＰＩＺＺＡ'];

    for (const text of texts) here.says({ to: SHORT_CODE, text });
    const received = await here.received(texts.length);

    const ofPizza = received.filter(({ account }) => account === pizza);
    expect(bodies(ofPizza).sort()).to.deep.equal([texts[0], texts[1], texts[2], texts[6]].sort());
    expect(received.filter(({ account }) => account === taxi)).to.have.length(3);
  });

  it('however the carrier writes our number and the sender', async () => {
    const here = await open();
    const notations: readonly [string, string, number][] = [
      [NUMBER, PHONE, 1],
      [`+${NUMBER}`, `+${PHONE}`, 1],
      [`00${NUMBER}`, `00${PHONE}`, 0],
      [`0${NUMBER.slice(2)}`, `0${PHONE.slice(2)}`, 0],
      ...[0, 1, 2, 3].map((ton): [string, string, number] => [NUMBER.slice(2), PHONE.slice(2), ton]),
    ];

    for (const [i, [to, from, fromTon]] of notations.entries()) here.smsc.sendMo({ to, from, fromTon, text: `${i}` });
    const received = await here.received(notations.length);

    for (const { from, to, inbound } of received)
      expect({ from, to, inbound }).to.deep.include({ from: PHONE, to: NUMBER });
  });

  it('to a short code with a country, too, and STOP counts for the whole number', async () => {
    const here = await open();
    await addNumber(here.db, clock, { number: SHORT_CODE, keyword: '', account: here.account, country: 'IN' });

    here.smsc.sendMo({ from: PHONE.slice(2), fromTon: 1, to: SHORT_CODE, text: 'STOP' });
    const [message] = await here.received(1);

    expect(message).to.include({ from: PHONE, optOut: 'out' });
    expect(await readScopes(here.db, here.account, [PHONE])).to.deep.equal(new Map([[PHONE, [SHORT_CODE]]]));
  });

  it('to a short code without a country: the account’s country counts, as for opt-outs that are added', async () => {
    const here = await open();
    await addNumber(here.db, clock, { number: SHORT_CODE, keyword: '', account: here.account });

    here.smsc.sendMo({ from: PHONE.slice(2), fromTon: 0, to: SHORT_CODE, text: 'STOP' });
    const [message] = await here.received(1);

    expect(message).to.include({ from: PHONE, optOut: 'out' });
  });

  it('a name or a short code writes: it stays as it is', async () => {
    const here = await open();

    here.smsc.sendMo({ from: 'MyBank', fromTon: 5, fromNpi: 0, to: NUMBER, text: 'code 1' });
    here.smsc.sendMo({ from: '52263', fromTon: 3, fromNpi: 0, to: NUMBER, text: 'code 2' });

    expect((await here.received(2)).map(({ from }) => from).sort()).to.deep.equal(['52263', 'MyBank']);
  });

  it('is told to the SMS webhooks that ask for it, with the specification’s members, `to` and `channel`', async () => {
    const here = await open();
    const endpoint = (more: Pick<EndpointDocument, 'channel' | 'events' | 'place'>): EndpointDocument => ({
      ...{ _id: newId('whk'), account: here.account, url: 'https://example.com/hook', secrets: [] },
      ...{ status: 'active', createdAt: clock.now(), ...more },
    });
    const asks = endpoint({ channel: 'sms', events: ['message.received'], place: 0 });
    await here.db
      .collection<EndpointDocument>('endpoints')
      .insertMany([
        asks,
        endpoint({ channel: 'sms', events: ['message.delivered'], place: 1 }),
        endpoint({ channel: 'chatapp', events: ['message.received'], place: 2 }),
      ]);

    here.says({ text: 'Where is my order?' });
    const [message] = await here.received(1);
    const deliveries = here.db.collection<DeliveryDocument>('deliveries');
    await eventually(async () => (await deliveries.countDocuments()) > 0, 'a delivery');
    const told = await deliveries.find().toArray();

    expect(told.map(({ endpoint }) => endpoint)).to.deep.equal([asks._id]);
    const { timestamp, ...body } = JSON.parse(told[0]?.body ?? '{}');
    expect(Object.entries(body)).to.deep.equal([
      ['event', 'message.received'],
      ['from', PHONE],
      ['message_id', message?._id],
      ['type', 'text'],
      ['body', 'Where is my order?'],
      ['to', NUMBER],
      ['channel', 'sms'],
    ]);
    expect(timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
  });

  it('of nobody: kept for the operator, with its whole text, and no message of an account', async () => {
    const here = await open();
    const text = 'x'.repeat(200);

    here.says({ to: '919000000009', text });
    const inbound = here.db.collection<InboundDocument>('inbound');
    const [kept] =
      (await eventually(async () => {
        const found = await inbound.find({ unassigned: { $exists: true } }).toArray();
        return found.length > 0 ? found : undefined;
      }, 'it is kept')) ?? [];

    expect(kept?.unassigned).to.deep.equal({ from: PHONE, to: '919000000009', type: 'text', body: text });
    expect(kept?.expiresAt).to.be.greaterThan(new Date());
    expect(await here.db.collection<InboundSmsDocument>('messages').countDocuments()).to.equal(0);
    await eventually(async () => (await here.counted('unassigned')) === 1, 'it is counted');
  });

  it('a number that two countries write alike inside them is nobody’s until the carrier writes it whole', async () => {
    const here = await open();
    // Made by hand, because real numbers of two countries do not share a national number.
    await here.db.collection('numbers').insertMany([
      { _id: '4490000001:' as never, number: '4490000001', keyword: '', account: here.account, national: '777777777' },
      { _id: '4990000001:' as never, number: '4990000001', keyword: '', account: here.account, national: '777777777' },
    ]);

    here.says({ to: '0777777777', text: 'which one?' });

    await eventually(async () => (await here.counted('unassigned')) === 1, 'it is kept');
  });
});
