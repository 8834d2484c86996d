import type { ReceivedWebhook } from '../../../scripts/simulator/receiver/received.ts';
import { eventually } from '../../support/eventually.ts';
import { expectProblem, expectRecord } from '../shape.ts';
import { EVENT_KINDS, type EventRow, INBOUND_TYPES } from '../tables/events.ts';
import { SETTLE_MS, type World } from '../world.ts';

const RECEIVED = EVENT_KINDS.find(({ event }) => event === 'message.received')?.payload ?? [];

/** Members beyond the specification: the account's number, and who the customer is. */
const BESIDE = ['from', 'to', 'customer'];

/** Every row of "Event kinds": caused, then received at the channel's endpoint, signed, with members in order. */
export function walkEvents(world: () => World): void {
  for (const row of EVENT_KINDS) {
    it(`${row.event} (${row.channel}): signed, exactly the members ${row.payload.map(({ name }) => name).join(', ')}`, async () => {
      const subject = await cause(row, world());

      const post = await posted(world(), row.channel === 'sms' ? '/webhook' : '/chatapp', row.event, subject);

      expectSigned(post);
      expectRecord(JSON.parse(post.body), row.payload, row.channel === 'chatapp' ? BESIDE : []);
      expect(row.event === 'message.received' ? post.json.from : post.json.to).to.match(/^91/);
    });
  }

  it('a reference that the sender gave comes last, in every event of the message', async () => {
    const { client, key } = world();
    const sent = await client.call({
      method: 'POST',
      path: '/v2/send',
      key,
      body: { to: '919876500941', message: 'Named', sender: 'HARKRA', reference: 'order 17' },
    });

    for (const row of EVENT_KINDS.filter(({ channel, cause }) => channel === 'sms' && cause === 'any')) {
      const post = await posted(world(), '/webhook', row.event, String(sent.body.message_id));
      expectRecord(JSON.parse(post.body), [
        ...row.payload,
        { name: 'reference', type: 'string', values: ['order 17'] },
      ]);
    }
  });

  INBOUND_TYPES.forEach(({ type, message, body, own }, index) => {
    it(`message.received of ${type}: ${own ?? 'nothing'} beside the six members`, async () => {
      const from = `91987650095${index}`;
      world().product.provider?.sends(from, message);

      const post = await posted(world(), '/chatapp', 'message.received', from);

      expectSigned(post);
      expectRecord(JSON.parse(post.body), RECEIVED, own === undefined ? BESIDE : [own, ...BESIDE]);
      expect(post.json).to.include({ type, body });
      if (own !== undefined) expect(post.json[own]).to.deep.equal(message[own]);
    });
  });

  it('POST /v2/chatapp/webhook: what it registers is posted to it and signed with the secret it answers, nothing else', async () => {
    const { client, key, product } = world();
    const { receiver, provider } = product;
    const register = () =>
      client.call({
        method: 'POST',
        path: '/v2/chatapp/webhook',
        key,
        body: { url: `${receiver.url}/registered`, events: ['message.received'] },
      });
    // After this event the processes have cached the account's endpoints as they were before the registration.
    provider?.says('919876500962', 'Is it open?');
    await posted(world(), '/chatapp', 'message.received', '919876500962');
    const first = await register();
    receiver.trust(String(first.body.secret), '/registered');
    provider?.says('919876500961', 'Are you there?');

    expectSigned(await posted(world(), '/registered', 'message.received', '919876500961'));

    const again = await register();
    expect(again.body).to.deep.equal({ status: 'success', webhook_id: first.body.webhook_id });
    const others = receiver
      .received()
      .filter(({ path, json }) => path === '/registered' && json.event !== 'message.received');
    expect(others).to.deep.equal([]);
  });

  it('POST /v2/chatapp/webhook: knows every event kind of the table, and names one that is none', async () => {
    const { client, key } = world();
    const kinds = EVENT_KINDS.map(({ event }) => event);
    const ask = (events: readonly string[]) =>
      client.call({
        method: 'POST',
        path: '/v2/chatapp/webhook',
        key,
        body: { url: 'http://127.0.0.1:9/contract', events },
      });

    expect((await ask(kinds)).status).to.equal(200);
    const refused = await ask([...kinds, 'message.lost']);

    expectProblem(refused, 400, 'invalid_request');
    expect(refused.body.errors).to.have.nested.property('[0].field', `events[${kinds.length}]`);
  });
}

/** Returns what identifies the event: the message's id, or the number of the customer who wrote. */
async function cause({ channel, cause, event }: EventRow, { client, key, product }: World): Promise<string> {
  if (cause === 'writes') {
    product.provider?.says('919876500971', 'Hello?');
    return '919876500971';
  }
  const to = `919876500${cause === 'any' ? '972' : cause}`;
  const answer = await (channel === 'sms'
    ? client.call({ method: 'POST', path: '/v2/send', key, body: { to, message: event, sender: 'HARKRA' } })
    : client.call({
        method: 'POST',
        path: '/v2/chatapp/send',
        key,
        body: { to, template: 'order_update', language: 'en_US', params: ['Asha', '1234'] },
      }));
  expect(answer.status, answer.text).to.equal(200);
  return String(answer.body.message_id);
}

function posted({ product }: World, path: string, event: string, subject: string): Promise<ReceivedWebhook> {
  return eventually(
    () =>
      product.receiver
        .received()
        .find(
          (post) =>
            post.path === path &&
            post.json.event === event &&
            (post.json.message_id === subject || post.json.from === subject),
        ),
    `${event} of ${subject} at ${path}`,
    SETTLE_MS,
  ).then((post) => {
    if (post === undefined) throw new Error('eventually gives what is there');
    return post;
  });
}

/** Expects a signature by Standard Webhooks, which the receiver has verified with the package of that name. */
function expectSigned({ headers, id, signature, at }: ReceivedWebhook): void {
  expect(signature).to.equal('valid');
  expect(id).to.match(/^evt_/);
  expect(headers['content-type']).to.match(/^application\/json(;|$)/);
  expect(headers['webhook-signature']).to.match(/^v1,[A-Za-z0-9+/]{43}=$/);
  expect(Number(headers['webhook-timestamp'])).to.be.closeTo(at / 1000, 60);
}
