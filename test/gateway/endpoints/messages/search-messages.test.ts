import request from 'supertest';
import {
  daysFrom,
  type MessageFilter,
  orderOf,
  searchBy,
  WALK_MAX,
} from '../../../../gateway/endpoints/messages/message-list.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { INDEXES } from '../../../../shared/platform/mongo/indexes.ts';
import { idDay, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { lookedAt } from '../../../support/looked-at.ts';
import { makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

const TO = '447700900123';
const DAY_MS = 86_400_000;

describe('GET /v2/messages: search', () => {
  const site = accountAtGateway(0);

  const ask = (query: Readonly<Record<string, string>>): request.Test =>
    request(site.url)
      .get(`/v2/messages?${new URLSearchParams(query)}`)
      .set('Authorization', `Bearer ${site.key}`);
  const insert = async (...messages: Partial<MessageDocument>[]): Promise<MessageId[]> => {
    const made = messages.map((overrides) => makeMessage({ account: site.account, ...overrides }));
    await site.db.collection<MessageDocument>('messages').insertMany(made);
    return made.map(({ _id }) => _id);
  };
  const received = async (from: string | null, channel: 'sms' | 'chatapp'): Promise<MessageId> => {
    const _id = newId('msg');
    await site.db.collection<AnyMessage>('messages').insertOne({
      ...{
        _id,
        account: site.account,
        day: idDay(_id),
        channel,
        direction: 'in',
        state: 'received',
        from,
        to: '919876543210',
      },
      ...{ upstreamId: 'wamid.1', carrier: 'alpha', inbound: { type: 'text', body: 'yes' } },
      ...{ v: 0, validUntil: new Date(), tries: 0, history: [{ state: 'received', at: new Date() }] },
    } as AnyMessage); // has the fields that lists read, of both channels
    return _id;
  };
  const idsOf = ({ body }: request.Response): unknown[] =>
    body.data.map((entry: { message_id: string }) => entry.message_id);
  const many = (overrides: Partial<MessageDocument>): Partial<MessageDocument>[] =>
    Array.from({ length: WALK_MAX + 10 }, () => overrides);

  it('one recipient, one reference, one customer, among thousands, on one page', async () => {
    const [wanted] = await insert({ to: TO, reference: 'order 7' });
    const answers = [await received(TO, 'sms'), await received(TO, 'chatapp')];
    await received(null, 'chatapp');
    await insert(...many({}));
    const whole = { has_more: false, next_cursor: null };
    const rows: readonly [Readonly<Record<string, string>>, readonly unknown[]][] = [
      [{ to: TO }, [wanted]],
      [{ reference: 'order 7' }, [wanted]],
      [{ reference: 'order 7', to: TO, sender: 'HARKRA', state: 'queued', channel: 'sms' }, [wanted]],
      [{ to: TO, sender: 'OTHERS' }, []],
      [{ to: TO, direction: 'in' }, []],
      [{ from: TO }, [...answers].reverse()],
      [{ from: TO, channel: 'sms' }, [answers[0]]],
      [{ from: TO, direction: 'out' }, []],
      [{ from: TO, state: 'received', to: '919876543210' }, [...answers].reverse()],
      [{ from: '919876543210' }, []],
    ];

    for (const [query, expected] of rows) {
      const answer = await ask(query);
      expect(idsOf(answer), JSON.stringify(query)).to.deep.equal(expected);
      expect(answer.body, JSON.stringify(query)).to.include(whole).and.not.to.have.property('searched_to');
    }
  });

  it('messages of several days in their order', async () => {
    const ids = [5, 4, 3, 1, 0].map((days) => newId('msg', Date.now() - days * DAY_MS));
    await insert(...ids.map((_id) => ({ _id, to: TO, day: idDay(_id) })));
    const expected = [...ids].reverse();

    expect(idsOf(await ask({ to: TO }))).to.deep.equal(expected);
    const first = await ask({ to: TO, limit: '2' });
    const second = await ask({ to: TO, limit: '2', cursor: first.body.next_cursor });
    const third = await ask({ to: TO, limit: '2', cursor: second.body.next_cursor });
    expect([first, second, third].flatMap(idsOf)).to.deep.equal(expected);
    const from = new Date(Date.now() - 3.5 * DAY_MS).toISOString();
    expect(idsOf(await ask({ to: TO, created_from: from }))).to.deep.equal(expected.slice(0, 3));
    expect(idsOf(await ask({ to: TO, created_before: from }))).to.deep.equal(expected.slice(3));
  });

  it('a recipient with thousands of messages is bounded too, and the answer says how far it looked', async () => {
    const [wanted] = await insert({ to: TO, sender: 'RARELY' }, ...many({ to: TO }));

    const first = await ask({ to: TO, sender: 'RARELY' });
    const second = await ask({ to: TO, sender: 'RARELY', cursor: first.body.next_cursor });

    expect(first.body).to.include({ has_more: true }).and.to.have.property('searched_to');
    expect(idsOf(second)).to.deep.equal([wanted]);
  });

  it('pages of a recipient show every message once', async () => {
    const ids = await insert(...Array.from({ length: 5 }, () => ({ to: TO })), {});

    const first = await ask({ to: TO, limit: '3' });
    const second = await ask({ to: TO, limit: '3', cursor: first.body.next_cursor });

    expect([first, second].flatMap(idsOf)).to.deep.equal(ids.slice(0, 5).reverse());
    expect(second.body.has_more).to.equal(false);
  });

  it('every search walks an index of the product, and looks at no more than it returns when that answers it', async () => {
    await insert(...many({}), { to: TO, reference: 'order 7', state: 'failed' });
    const filters: MessageFilter[] = [{ to: TO }, { reference: 'order 7' }, { from: TO }, { states: ['failed'] }, {}];

    const names = INDEXES.filter(({ collection }) => collection === 'messages').map(({ options }) => options.name);

    for (const filter of filters) {
      const search = searchBy(site.account, filter);
      const { index, walked, wanted } = search;
      expect(wanted).to.deep.equal({});
      expect(names).to.include(index);
      const month = daysFrom(newId('msg', Date.now() - 30 * DAY_MS), newId('msg'));
      const day: object = search.byDay === undefined ? {} : { day: { $in: month } };
      const page = site.db
        .collection<AnyMessage>('messages')
        .find({ ...walked, ...day, _id: { $gte: 'msg_' as MessageId } })
        .sort(orderOf(search))
        .hint(index)
        .limit(51);
      const { documents, found } = await lookedAt(site.db, page);
      expect(documents, index).to.equal(found);
    }
  });

  it('what came to a short code of the account', async () => {
    await received(TO, 'sms');
    const _id = await received(TO, 'sms');
    await site.db.collection<AnyMessage>('messages').updateOne({ _id }, { $set: { to: '56789' } });

    expect(idsOf(await ask({ to: '56789' }).expect(200))).to.deep.equal([_id]);
  });

  for (const from of ['abc', '12', '+447700900123']) {
    it(`400: from=${from}`, async () => {
      const answer = await ask({ from });

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors[0]).to.include({ field: 'from', code: 'invalid_phone' });
    });
  }
});
