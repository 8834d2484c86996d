import request from 'supertest';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import { recordInbound } from '../../../../shared/money/conversations/conversation.ts';
import { type AccountId, customerId, idDay, newId } from '../../../../shared/platform/runtime/ids.ts';
import { linkCustomers } from '../../../../workers/chatapp/customers.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { NUMBER } from '../../../support/chatapp.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { wrote } from '../../../support/wrote.ts';

const MINUTE_MS = 60_000;
const CUSTOMER = '919876543210';

describe('the inbox of an account', () => {
  const site = accountAtGateway(10);

  const ask = (path: string, as = site.key) => request(site.url).get(path).set('Authorization', `Bearer ${as}`);
  const insert = (message: object) => site.db.collection<AnyMessage>('messages').insertOne(message as AnyMessage);
  const ids = ({ body }: request.Response): string[] => body.data.map((one: { message_id: string }) => one.message_id);

  const customerWrote = (customer: string, minutesAgo: number, body: string, account: AccountId = site.account) =>
    wrote(site.db, account, { customer, minutesAgo, body });

  async function sent(customer: string, minutesAgo: number, content: object) {
    const _id = newId('msg', Date.now() - minutesAgo * MINUTE_MS);
    const {
      text: _,
      sender: __,
      segments: ___,
      ...base
    } = makeMessage({ _id, account: site.account, state: 'sent', to: customer });
    const own = { channel: 'chatapp', direction: 'out', conversation: newId('cnv'), content };
    await insert({ ...base, day: idDay(_id), ...own });
    return _id;
  }

  it('customers, the one who wrote last first, with the session and the last text', async () => {
    await customerWrote(CUSTOMER, 30, 'first');
    await customerWrote(CUSTOMER, 20, 'second');
    await customerWrote('919876543211', 26 * 60, 'long ago');
    await customerWrote('919876543212', 5, 'just now');

    const { body } = await ask('/v2/account/inbox');

    expect(body).to.include({ has_more: false, next_cursor: null });
    const rows = body.data as { to: string; session_open: boolean; last_message: object }[];
    expect(rows.map(({ to, session_open, last_message }) => [to, session_open, last_message])).to.deep.equal([
      ['919876543212', true, { type: 'text', body: 'just now' }],
      [CUSTOMER, true, { type: 'text', body: 'second' }],
      ['919876543211', false, { type: 'text', body: 'long ago' }],
    ]);
  });

  it('pages show every customer once, also those who wrote in the same millisecond', async () => {
    const at = new Date(Date.now() - MINUTE_MS);
    const customers = Array.from({ length: 7 }, (_, n) => `91987654320${n}`);
    await recordInbound(
      site.db,
      customers.map((customer) => ({ account: site.account, customer, number: NUMBER, at })),
    );

    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await ask(`/v2/account/inbox?limit=3${cursor}`);
      seen.push(...body.data.map((one: { to: string }) => one.to));
      cursor = body.has_more ? `&cursor=${body.next_cursor}` : '';
    } while (cursor !== '');

    expect(seen).to.have.lengthOf(7);
    expect(new Set(seen)).to.deep.equal(new Set(customers));
  });

  it('messages both ways, newest first, with what was written', async () => {
    const template = await sent(CUSTOMER, 40, {
      kind: 'template',
      name: 'order_update',
      language: 'en_US',
      params: ['secret code'],
    });
    const question = await customerWrote(CUSTOMER, 30, 'Where is it?');
    const answer = await sent(CUSTOMER, 20, { kind: 'text', text: 'a text of ours' });
    await customerWrote('919876543211', 10, 'somebody else');

    const response = await ask(`/v2/account/inbox/${CUSTOMER}`);

    expect(ids(response)).to.deep.equal([answer, question, template]);
    expect(response.body).to.include({ to: CUSTOMER, session_open: true });
    expect(response.body.customer).to.deep.equal({ id: customerId(site.account, CUSTOMER), number: CUSTOMER });
    const [ours, theirs, first] = response.body.data;
    expect(theirs).to.include({ direction: 'in', body: 'Where is it?', type: 'text' });
    expect(first).to.deep.include({
      template: 'order_update',
      language: 'en_US',
      params: ['secret code'],
      status: 'sent',
    });
    expect(ours).to.include({ direction: 'out', type: 'text', body: 'a text of ours' });
  });

  it('a customer whom the provider knows by another number has one conversation, whichever is asked for', async () => {
    const [typed, known] = ['5531987654321', '553187654321'];
    await linkCustomers(site.db, [{ account: site.account, names: [typed, known] }], new Date());
    const ours = await sent(typed, 40, { kind: 'text', text: 'x' });
    const theirs = await customerWrote(known, 30, 'Where is it?');

    const { id } = (await ask(`/v2/account/inbox/${known}`)).body.customer;
    for (const [customer, alias] of [
      [typed, known],
      [known, typed],
    ]) {
      const response = await ask(`/v2/account/inbox/${customer}`);
      expect(ids(response)).to.deep.equal([theirs, ours]);
      expect(response.body).to.deep.include({ to: customer, aliases: [alias], session_open: true });
      expect(response.body.customer.id).to.equal(id);
    }
    const rows = (await ask('/v2/account/inbox')).body.data;
    expect(rows.map(({ to, aliases }: { to: string; aliases: string[] }) => [to, aliases])).to.deep.equal([
      [known, [typed]],
    ]);
  });

  it('customers who show no number, page by page', async () => {
    const customers = ['IN.1648738043044942', 'US.ENT.11815799212886844830'];
    const asked = await Promise.all(customers.map((customer, n) => customerWrote(customer, 10 + n, 'hi')));

    const first = await ask('/v2/account/inbox?limit=1');
    const second = await ask(`/v2/account/inbox?limit=1&cursor=${first.body.next_cursor}`);

    expect([first, second].map(({ body }) => body.data[0].to)).to.deep.equal(customers);
    for (const [n, customer] of customers.entries()) {
      expect(ids(await ask(`/v2/account/inbox/${customer}`))).to.deep.equal([asked[n]]);
      expect(ids(await ask(`/v2/messages?from=${customer}`))).to.deep.equal([asked[n]]);
    }
  });

  it('pages of messages show every one once, in order', async () => {
    const all: string[] = [];
    for (let n = 0; n < 9; n++) {
      all.push(
        n % 3 === 0
          ? await sent(CUSTOMER, 100 - n, { kind: 'text', text: 'x' })
          : await customerWrote(CUSTOMER, 100 - n, 'y'),
      );
    }

    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await ask(`/v2/account/inbox/${CUSTOMER}?limit=2${cursor}`);
      seen.push(...ids(page));
      cursor = page.body.has_more ? `&cursor=${page.body.next_cursor}` : '';
    } while (cursor !== '');

    expect(seen).to.deep.equal(all.reverse());
  });

  it('a message that was written in a group has the group', async () => {
    const alone = await customerWrote(CUSTOMER, 2, 'to you');
    const inGroup = await customerWrote(CUSTOMER, 1, 'to all');
    const more = { group_id: 'Y2FwaV9ncm91cDox' };
    await site.db
      .collection<AnyMessage>('messages')
      .updateOne({ _id: inGroup }, { $set: { 'inbound.more': more } as Partial<AnyMessage> });

    const { data } = (await ask(`/v2/account/inbox/${CUSTOMER}`)).body;

    expect(data[0]).to.include({ message_id: inGroup, body: 'to all', ...more });
    expect(data[1]).to.include({ message_id: alone });
    expect(data[1]).not.to.have.property('group_id');
  });

  it('a long text is cut, but no emoji in half', async () => {
    await customerWrote(CUSTOMER, 2, 'x'.repeat(10_000));
    await customerWrote(CUSTOMER, 1, `x${'😀'.repeat(5_000)}`);

    const { data } = (await ask(`/v2/account/inbox/${CUSTOMER}`)).body;

    const shown = data.map(({ body, body_cut }: Record<string, unknown>) => [body, body_cut]);
    expect(shown).to.deep.equal([
      [`x${'😀'.repeat(2_047)}`, true],
      ['x'.repeat(4_096), true],
    ]);
  });

  it("another account's customer is answered like an unknown one, also with their cursor", async () => {
    const theirs = await makeAccount(site.db, 1);
    await customerWrote('919876549999', 1, 'private', theirs);
    const theirKey = await makeKey(site.db, theirs);
    await customerWrote('919876549998', 1, 'private', theirs);
    const { body } = await ask('/v2/account/inbox?limit=1', theirKey);

    const [foreign, unknown] = await Promise.all(
      ['919876549999', '919876540000'].map((customer) => ask(`/v2/account/inbox/${customer}`)),
    );

    for (const answer of [foreign, unknown]) if (answer !== undefined) expectProblem(answer, 'customer_not_found');
    expect({ ...foreign?.body, request_id: '' }).to.deep.equal({ ...unknown?.body, request_id: '' });
    expect((await ask(`/v2/account/inbox?cursor=${body.next_cursor}`)).body.data).to.deep.equal([]);
    expectProblem(await ask('/v2/account/inbox/abc'), 'customer_not_found');
  });

  it('received SMS, of all numbers or of one', async () => {
    const received = async (number: string, body: string): Promise<string> => {
      const {
        text: _,
        sender: __,
        segments: ___,
        ...base
      } = makeMessage({ account: site.account, state: 'received', to: number });
      const own = { direction: 'in', from: CUSTOMER, carrier: 'c', inbound: { type: 'text', body } };
      await insert({ ...base, day: idDay(base._id), ...own });
      return base._id;
    };
    const first = await received('919000000001', 'STOP');
    const second = await received('56161', 'VOTE 1');
    await customerWrote(CUSTOMER, 1, 'not an SMS');

    const all = await ask('/v2/account/received-sms');

    expect(ids(all)).to.deep.equal([second, first]);
    expect(all.body.data[0]).to.include({ from: CUSTOMER, to: '56161', body: 'VOTE 1' });
    expect(ids(await ask('/v2/account/received-sms?number=919000000001'))).to.deep.equal([first]);
    expectProblem(await ask('/v2/account/received-sms?number=%2B91'), 'invalid_request');
  });

  it('a viewer may look, and may not answer', async () => {
    await customerWrote(CUSTOMER, 1, 'hello');
    const { headers } = await signedIn(site.db, 'viewer', site.account);
    const get = (path: string) => request(site.url).get(path).set(headers);

    expect((await get('/v2/account/inbox')).status).to.equal(200);
    expect((await get(`/v2/account/inbox/${CUSTOMER}`)).status).to.equal(200);
    expectProblem(
      await request(site.url).post('/v2/chatapp/send-text').set(headers).send({ to: CUSTOMER, message: 'hi' }),
      'scope_missing',
    );
    expectProblem(await ask('/v2/account/inbox', await makeKey(site.db, site.account, ['send'])), 'scope_missing');
  });
});
