import request from 'supertest';
import { reachedBetween } from '../../../../gateway/endpoints/messages/events.ts';
import { eventBody, MESSAGE_EVENT_NAMES, type MessageEventName } from '../../../../shared/events/catalogue.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { HistoryEntry, MessageDocument, MessageState } from '../../../../shared/messages/document/message.ts';
import { eventId, idDay, lowestId, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { lookedAt } from '../../../support/looked-at.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

type Query = Readonly<Record<string, string>>;
/** Messages to customers have no opt-outs and opt-ins in their history. */
type ToldState = Extract<HistoryEntry['state'], MessageState>;
type Told = readonly (readonly [state: ToldState, at: Date])[];

describe('GET /v2/events', () => {
  const site = accountAtGateway(0);
  const ask = (query: Query | string = {}, as = site.key): request.Test =>
    request(site.url)
      .get(`/v2/events?${typeof query === 'string' ? query : new URLSearchParams(query)}`)
      .set('Authorization', `Bearer ${as}`);
  const messages = () => site.db.collection<AnyMessage>('messages');
  const make = (told: Told, overrides: Partial<MessageDocument> = {}): MessageDocument => {
    const history = told.map(([state, at]) => ({ state, at }));
    return makeMessage({ account: site.account, state: history.at(-1)?.state ?? 'queued', history, ...overrides });
  };
  const inbound = (body: string, at: Date, _id = newId('msg')): AnyMessage => ({
    ...{ _id, day: idDay(_id) },
    channel: 'chatapp',
    direction: 'in',
    account: site.account,
    from: '447700900123',
    to: '919876543210',
    upstreamId: 'wamid.1',
    inbound: { type: 'text', body },
    state: 'received',
    v: 0,
    validUntil: ago(0),
    tries: 0,
    history: [{ state: 'received', at }],
  });
  const insert = async (...all: readonly AnyMessage[]): Promise<void> => {
    await messages().insertMany([...all]);
  };
  const idsOf = ({ body }: request.Response): string[] => body.data.map((one: { event_id: string }) => one.event_id);
  const walk = async (query: Query): Promise<{ ids: string[]; pages: number }> => {
    const ids: string[] = [];
    let cursor: string | undefined;
    for (let pages = 1; ; pages++) {
      const { status, body } = await ask(cursor === undefined ? query : { ...query, cursor });
      expect(status).to.equal(200);
      ids.push(...body.data.map((one: { event_id: string }) => one.event_id));
      expect(body.has_more).to.equal(body.next_cursor !== null);
      if (!body.has_more) return { ids, pages };
      cursor = body.next_cursor;
    }
  };
  // Set for each test: other files may run for a quarter of an hour before.
  let now = 0;
  beforeEach(() => {
    now = Date.now();
  });
  const ago = (seconds: number) => new Date(now - seconds * 1_000);

  describe('200', () => {
    it('an account without events', async () => {
      await insert(make([]));

      const { status, body } = await ask();

      expect(status).to.equal(200);
      expect(body).to.deep.equal({ data: [], next_cursor: null, has_more: false });
    });

    it('the payloads of webhooks with their ids, newest first, and never a text', async () => {
      const one = make(
        [
          ['sent', ago(60)],
          ['delivered', ago(20)],
        ],
        { text: 'secret', reference: 'order 7', operator: 'Simulated Carrier', deliveredAt: ago(21) },
      );
      const other = make([['failed', ago(40)]], { errorCode: '001', errorReason: 'Not delivered' });
      await insert(one, other);

      const { body, text } = await ask();

      const expected = [
        [one, one.history[1]],
        [other, other.history[0]],
        [one, one.history[0]],
      ] as const;
      expect(body.data).to.deep.equal(
        expected.map(([message, entry]) => {
          if (entry === undefined) throw new Error('no such entry');
          return { event_id: eventId(message._id, entry.state), ...JSON.parse(eventBody({ message, entry })) };
        }),
      );
      expect(text).not.to.include('secret');
    });

    it('of the last seven days', async () => {
      const day = 24 * 3_600;
      const old = make([
        ['sent', ago(7 * day + 60)],
        ['delivered', ago(7 * day - 60)],
      ]);
      await insert(old);

      expect(idsOf(await ask())).to.deep.equal([eventId(old._id, 'delivered')]);
      expect(idsOf(await ask({ since: '1960-01-01T00:00:00Z' }))).to.deep.equal([eventId(old._id, 'delivered')]);
    });

    it('from a time on, before a time, by name, of a message, and by all of them', async () => {
      const a = make([
        ['sent', ago(300)],
        ['delivered', ago(100)],
      ]);
      const b = make([
        ['sent', ago(200)],
        ['delivered', ago(100)],
      ]);
      await insert(a, b);
      const [aSent, aDone, bSent, bDone] = [
        eventId(a._id, 'sent'),
        eventId(a._id, 'delivered'),
        eventId(b._id, 'sent'),
        eventId(b._id, 'delivered'),
      ];

      expect(idsOf(await ask({ since: ago(200).toISOString() }))).to.deep.equal([bDone, aDone, bSent]);
      expect(idsOf(await ask({ until: ago(200).toISOString() }))).to.deep.equal([aSent]);
      expect(idsOf(await ask({ since: ago(300).toISOString(), until: ago(100).toISOString() }))).to.deep.equal([
        bSent,
        aSent,
      ]);
      expect(idsOf(await ask({ event: 'message.sent' }))).to.deep.equal([bSent, aSent]);
      expect(idsOf(await ask({ message_id: a._id }))).to.deep.equal([aDone, aSent]);
      expect(
        idsOf(await ask({ message_id: a._id, event: 'message.sent', since: ago(300).toISOString() })),
      ).to.deep.equal([aSent]);
      expect(idsOf(await ask({ message_id: a._id, since: ago(99).toISOString() }))).to.deep.equal([]);
      expect((await walk({ message_id: a._id, limit: '1' })).ids).to.deep.equal([aDone, aSent]);
      expect(idsOf(await ask({ message_id: newId('msg') }))).to.deep.equal([]);
    });

    it('once each over all pages, in order, though many are of one moment and their messages have others too', async () => {
      const moment = ago(500);
      const all = [
        ...Array.from({ length: 40 }, (_, i) =>
          make([
            ['sent', moment],
            ['delivered', i % 2 === 0 ? ago(499) : ago(400 - i)],
          ]),
        ),
        // One event long before all others.
        make([['rejected', ago(500_000)]]),
      ];
      await insert(...all);
      const expected = all
        .flatMap(({ _id, history }) => history.map(({ state, at }) => ({ at: at.getTime(), id: eventId(_id, state) })))
        .sort((x, y) => y.at - x.at || (x.id < y.id ? 1 : -1))
        .map(({ id }) => id);

      for (const limit of ['1', '3', '7', '500']) expect((await walk({ limit })).ids).to.deep.equal(expected);
      expect((await walk({ limit: '3', event: 'message.sent' })).ids).to.have.length(40);
    });

    it('all of a moment that has more messages than one page looks at', async () => {
      const moment = ago(100);
      const all = Array.from({ length: 1_300 }, (_, i) => make([[i === 0 ? 'failed' : 'sent', moment]]));
      await insert(...all);

      expect(new Set((await walk({ limit: '500' })).ids).size).to.equal(1_300);
      const [first] = all;
      if (first === undefined) throw new Error('none was made');
      expect((await walk({ event: 'message.failed' })).ids).to.deep.equal([eventId(first._id, 'failed')]);
    });

    it('of one name, however rare, on one page', async () => {
      const rare = make([
        ['failed', ago(90_000)],
        ['delivered', ago(80_000)],
      ]);
      await insert(rare, ...Array.from({ length: 2_600 }, (_, i) => make([['sent', ago(10 + i)]])));

      expect(await walk({ event: 'message.failed' })).to.deep.equal({ ids: [eventId(rare._id, 'failed')], pages: 1 });
      expect(await walk({ event: 'message.read' })).to.deep.equal({ ids: [], pages: 1 });
    });

    it('pages lose and double nothing while newer events come', async () => {
      const old = Array.from({ length: 6 }, (_, i) => make([['sent', ago(60 + i)]]));
      await insert(...old);

      const first = await ask({ limit: '4' });
      await messages().updateMany(
        { account: site.account },
        { $push: { history: { state: 'delivered', at: ago(1) } } },
      );
      const second = await ask({ limit: '4', cursor: first.body.next_cursor });

      expect([...idsOf(first), ...idsOf(second)]).to.deep.equal(old.map(({ _id }) => eventId(_id, 'sent')));
    });

    it('messages of the chat-app channel: what the customer did', async () => {
      const read = make([
        ['sent', ago(30)],
        ['read', ago(20)],
      ]);
      const received = inbound('Yes please', ago(10));
      await insert(read, received);

      const { body } = await ask();

      expect(body.data.map((one: { event: string }) => one.event)).to.deep.equal([
        'message.received',
        'message.read',
        'message.sent',
      ]);
      expect(body.data[0]).to.include({ message_id: received._id, from: '447700900123', body: 'Yes please' });
      expect(idsOf(await ask({ event: 'message.received' }))).to.have.length(1);
    });

    it('a page ends early when what customers wrote is very long', async () => {
      const long = Array.from({ length: 40 }, (_, i) => inbound('x'.repeat(60_000), ago(10 + i)));
      await insert(...long);

      const first = await ask({ limit: '500' });
      const { ids } = await walk({ limit: '500' });

      expect(first.body.data).to.have.lengthOf(17); // a page has at most a megabyte
      expect(first.body.has_more).to.equal(true);
      expect(ids).to.deep.equal(long.map(({ _id }) => eventId(_id, 'received')));
    });

    it("never another account's, also by their message and their cursor", async () => {
      const theirs = await makeAccount(site.db, 0);
      const message = make([['sent', ago(2)]], { account: theirs });
      await insert(message, make([['sent', ago(3)]], { account: theirs }));
      const { body } = await ask({ limit: '1' }, await makeKey(site.db, theirs));
      expect(body.has_more).to.equal(true);

      const asked: Query[] = [{}, { message_id: message._id }, { cursor: body.next_cursor }];
      for (const query of asked) expect((await ask(query)).body.data).to.deep.equal([]);
    });
  });

  it('the store looks at one stretch of the index for a slice of time and a name, whatever lies around it', async () => {
    const told = (i: number): Told => (i === 1_520 ? [['failed', ago(i)]] : [['sent', ago(i)]]);
    await insert(...Array.from({ length: 3_000 }, (_, i) => make(told(i))));
    const examined = async (names: readonly MessageEventName[]): Promise<unknown> => {
      const slice = messages().find(reachedBetween(site.account, names, ago(1_550).getTime(), ago(1_500).getTime()));
      return (await lookedAt(site.db, slice.hint('events_by_state'))).documents;
    };

    expect(await examined(MESSAGE_EVENT_NAMES)).to.equal(50);
    expect(await examined(['message.sent'])).to.equal(49);
    expect(await examined(['message.failed'])).to.equal(1);
    expect(await examined(['message.read'])).to.equal(0);
  });

  describe('400', () => {
    const cursorOf = (place: string): string => Buffer.from(`events:${place}`).toString('base64url');
    const id: MessageId = lowestId('msg', ago(0));
    const rows: readonly [string, string, string][] = [
      ['event=sent', 'event', 'invalid_value'],
      ['event=message.opened', 'event', 'invalid_value'],
      ['message_id=msg_1', 'message_id', 'invalid_value'],
      ['since=2026-01-01', 'since', 'invalid_time'],
      ['until=2026-01-01T00:00:00+05:30', 'until', 'invalid_time'],
      ['limit=0', 'limit', 'out_of_range'],
      ['limit=501', 'limit', 'out_of_range'],
      ['cursor=', 'cursor', 'invalid_value'],
      ['cursor=abc', 'cursor', 'invalid_value'],
      [`cursor=${cursorOf(id)}`, 'cursor', 'invalid_value'],
      [`cursor=${cursorOf('01:')}`, 'cursor', 'invalid_value'],
      [`cursor=${cursorOf(`9999999999999999:${eventId(id, 'sent')}`)}`, 'cursor', 'invalid_value'],
      ['to=919876543210', 'to', 'unknown_field'],
      ['since=2026-01-01T00:00:00Z&since=2026-01-01T00:00:00Z', 'since', 'conflict'],
    ];
    for (const [query, field, code] of rows) {
      it(`${code}: ${query}`, async () => {
        const answer = await ask(query);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code });
      });
    }
  });
});
