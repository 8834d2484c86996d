import request from 'supertest';
import { WALK_MAX } from '../../../../gateway/endpoints/messages/message-list.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { updateAccount } from '../../../../shared/money/accounts/store.ts';
import { batchMessageIds, idDay, lowestId, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

type Query = Readonly<Record<string, string>>;

describe('GET /v2/messages', () => {
  const site = accountAtGateway(0);

  const ask = (query: Query | string = {}, as = site.key): request.Test =>
    request(site.url)
      .get(`/v2/messages?${typeof query === 'string' ? query : new URLSearchParams(query)}`)
      .set('Authorization', `Bearer ${as}`);
  const insert = async (...messages: Partial<MessageDocument>[]): Promise<MessageId[]> => {
    const made = messages.map((overrides) => makeMessage({ account: site.account, ...overrides }));
    await site.db.collection<MessageDocument>('messages').insertMany(made);
    return made.map(({ _id }) => _id);
  };
  const idsOf = ({ body }: request.Response): unknown[] =>
    body.data.map((entry: { message_id: string }) => entry.message_id);

  describe('200', () => {
    it('an account without messages', async () => {
      const answer = await ask();

      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ data: [], next_cursor: null, has_more: false });
    });

    it('newest first, with what is known of each and never its text', async () => {
      const at = new Date('2026-11-21T10:00:00.500Z');
      const plain = lowestId('msg', at);
      const batch = newId('bat');
      await insert(
        { _id: plain, text: 'secret' },
        {
          batch,
          state: 'delivered',
          deliveredAt: at,
          operator: 'Simulated Carrier',
          reference: 'order 7',
          route: 'promotional',
          segments: 2,
        },
      );

      const { body, text } = await ask();

      const [newest, oldest] = body.data;
      expect(newest).to.include({
        status: 'delivered',
        delivered_at: '2026-11-21T10:00:00+00:00',
        operator: 'Simulated Carrier',
        reference: 'order 7',
        batch_id: batch,
        route: 'promotional',
        segments: 2,
      });
      expect(oldest).to.deep.equal({
        message_id: plain,
        to: '919876543210',
        status: 'queued',
        delivered_at: null,
        operator: null,
        channel: 'sms',
        sender: 'HARKRA',
        route: 'transactional',
        segments: 1,
        created_at: '2026-11-21T10:00:00+00:00',
      });
      expect(text).not.to.include('secret');
    });

    it('pages show every message once, also while new ones arrive', async () => {
      const ids = await insert(...Array.from({ length: 7 }, () => ({})));

      const first = await ask({ limit: '3' });
      await insert({});
      const second = await ask({ limit: '3', cursor: first.body.next_cursor });
      const third = await ask({ limit: '3', cursor: second.body.next_cursor });

      expect([first, second, third].flatMap(idsOf)).to.deep.equal(ids.reverse());
      expect([first, second, third].map(({ body }) => body.has_more)).to.deep.equal([true, true, false]);
      expect(third.body.next_cursor).to.equal(null);
    });

    it('50 a page unless `limit` says otherwise, 500 at most', async () => {
      await insert(...Array.from({ length: 501 }, () => ({})));

      expect((await ask()).body.data).to.have.length(50);
      expect((await ask({ limit: '500' })).body.data).to.have.length(500);
    });

    it('by state as the API shows it', async () => {
      const [queued, submitting, waiting, sent, expired] = await insert(
        { state: 'queued' },
        { state: 'submitting' },
        { state: 'waiting' },
        { state: 'sent' },
        { state: 'expired' },
      );

      expect(idsOf(await ask({ state: 'queued' }))).to.deep.equal([waiting, submitting, queued]);
      expect(idsOf(await ask({ state: 'sent' }))).to.deep.equal([sent]);
      expect(idsOf(await ask({ state: 'expired' }))).to.deep.equal([expired]);
      expect(idsOf(await ask({ state: 'failed' }))).to.deep.equal([]);
    });

    it('by recipient, by reference, and by both', async () => {
      const [one, two, both] = await insert(
        { to: '447700900123' },
        { reference: 'a&b=c ü' },
        { to: '447700900123', reference: 'a&b=c ü' },
      );

      expect(idsOf(await ask({ to: '447700900123' }))).to.deep.equal([both, one]);
      expect(idsOf(await ask({ reference: 'a&b=c ü' }))).to.deep.equal([both, two]);
      expect(idsOf(await ask({ to: '447700900123', reference: 'a&b=c ü' }))).to.deep.equal([both]);
    });

    it('by a number without its country code, of the country of the account', async () => {
      await updateAccount(site.db, site.account, { country: 'IN' });
      const [whole, asWritten] = await insert({ to: '919811112222' }, { to: '9811113333' });

      expect(idsOf(await ask({ to: '9811112222' }))).to.deep.equal([whole]);
      expect(idsOf(await ask({ to: '09811112222' }))).to.deep.equal([whole]);
      expect(idsOf(await ask({ to: '9811113333' }))).to.deep.equal([asWritten]);
    });

    it('by time of creation: from the first on, before the second, in any offset', async () => {
      const day = (n: number) => lowestId('msg', new Date(Date.UTC(2026, 0, n)));
      await insert({ _id: day(1) }, { _id: day(2) }, { _id: day(3) });

      const from = { created_from: '2026-01-02T05:30:00+05:30' };
      const before = { created_before: '2026-01-03T00:00:00Z' };

      expect(idsOf(await ask(from))).to.deep.equal([day(3), day(2)]);
      expect(idsOf(await ask(before))).to.deep.equal([day(2), day(1)]);
      expect(idsOf(await ask({ ...from, ...before }))).to.deep.equal([day(2)]);
      const page = await ask({ ...before, limit: '1' });
      expect(idsOf(await ask({ ...before, cursor: page.body.next_cursor }))).to.deep.equal([day(1)]);
      expect(idsOf(await ask({ created_from: '1960-01-01T00:00:00Z' }))).to.have.length(3);
    });

    it('of a batch, whole and by state', async () => {
      const batch = newId('bat');
      const idOf = batchMessageIds(batch);
      await insert({}, { _id: idOf(0), batch }, { _id: idOf(1), batch, state: 'sent' }, { _id: idOf(2), batch }, {});

      expect(idsOf(await ask({ batch_id: batch }))).to.deep.equal([idOf(2), idOf(1), idOf(0)]);
      expect(idsOf(await ask({ batch_id: batch, state: 'queued' }))).to.deep.equal([idOf(2), idOf(0)]);
      const page = await ask({ batch_id: batch, limit: '2' });
      expect(idsOf(await ask({ batch_id: batch, cursor: page.body.next_cursor }))).to.deep.equal([idOf(0)]);
      expect(idsOf(await ask({ batch_id: newId('bat') }))).to.deep.equal([]);
    });

    it('looks at so many messages a page, then says where to go on', async () => {
      const [wanted] = await insert({ sender: 'RARELY' }, ...Array.from({ length: WALK_MAX }, () => ({})));

      const first = await ask({ sender: 'RARELY' });
      const second = await ask({ sender: 'RARELY', cursor: first.body.next_cursor });

      expect(first.body).to.include({ has_more: true }).and.to.have.property('data').that.is.empty;
      expect(Date.parse(first.body.searched_to)).to.be.closeTo(Date.now(), 60_000);
      expect(idsOf(second)).to.deep.equal([wanted]);
      expect(second.body).to.include({ has_more: false, next_cursor: null }).and.not.to.have.property('searched_to');
    });

    it('what failed, what customers wrote or have read, among thousands, on one page', async () => {
      const most = Array.from({ length: WALK_MAX + 10 }, () => ({ state: 'delivered' as const }));
      const received = newId('msg');
      await site.db.collection<AnyMessage>('messages').insertOne({
        ...{
          _id: received,
          day: idDay(received),
          account: site.account,
          channel: 'chatapp',
          direction: 'in',
          state: 'received',
        },
        ...{ from: '447700900123', to: '919876543210', upstreamId: 'wamid.1', inbound: { type: 'text', body: 'yes' } },
        ...{ v: 0, validUntil: new Date(), tries: 0, history: [{ state: 'received', at: new Date() }] },
      });
      const [failed, elsewhere, read] = await insert(
        { state: 'failed' },
        { state: 'failed', to: '447700900123' },
        { state: 'read' },
        ...most,
      );
      const whole = { has_more: false, next_cursor: null };
      const rows: readonly [Query, readonly unknown[]][] = [
        [{ state: 'failed' }, [elsewhere, failed]],
        [{ state: 'failed', to: '447700900123' }, [elsewhere]],
        [{ state: 'failed', direction: 'in' }, []],
        [{ state: 'rejected' }, []],
        [{ state: 'read' }, [read]],
        [{ direction: 'in' }, [received]],
        [{ direction: 'in', channel: 'chatapp' }, [received]],
        [{ direction: 'in', channel: 'sms' }, []],
      ];

      for (const [query, expected] of rows) {
        const answer = await ask(query);
        expect(idsOf(answer), JSON.stringify(query)).to.deep.equal(expected);
        expect(answer.body, JSON.stringify(query)).to.include(whole);
      }
    });

    it("never another account's, also with their batch, recipient and cursor", async () => {
      const theirs = await makeAccount(site.db, 0);
      const batch = newId('bat');
      const idOf = batchMessageIds(batch);
      const other = { account: theirs, batch, to: '447700900123' };
      await insert({ ...other, _id: idOf(0) }, { ...other, _id: idOf(1) });
      const { body } = await ask({ limit: '1' }, await makeKey(site.db, theirs));
      expect(body.has_more).to.equal(true);

      const asked: Query[] = [{}, { batch_id: batch }, { to: other.to }, { cursor: body.next_cursor }];
      for (const query of asked) expect((await ask(query)).body.data).to.deep.equal([]);
    });
  });

  describe('400', () => {
    const rows: readonly [string, string, string][] = [
      ['state=submitting', 'state', 'invalid_value'],
      ['state=', 'state', 'invalid_value'],
      ['to=%2B919876543210', 'to', 'invalid_phone'],
      ['batch_id=bat_1', 'batch_id', 'invalid_value'],
      ['limit=0', 'limit', 'out_of_range'],
      ['limit=501', 'limit', 'out_of_range'],
      ['limit=1e2', 'limit', 'invalid_value'],
      ['limit=-1', 'limit', 'invalid_value'],
      ['created_from=2026-01-01', 'created_from', 'invalid_time'],
      ['created_before=2026-01-01T00:00:00+05:30', 'created_before', 'invalid_time'],
      ['cursor=', 'cursor', 'invalid_value'],
      ['cursor=abc', 'cursor', 'invalid_value'],
      [`cursor=${Buffer.from(`ledger:${newId('msg')}`).toString('base64url')}`, 'cursor', 'invalid_value'],
      [`cursor=${Buffer.from(`messages:${newId('msg')}`).toString('base64url')}!`, 'cursor', 'invalid_value'],
      ['reference=%ff', 'reference', 'invalid_text'],
      ['state=sent&state=sent', 'state', 'conflict'],
      ['status=sent', 'status', 'unknown_field'],
      ['__proto__=1', '__proto__', 'unknown_field'],
      ['state[$ne]=sent', 'state[$ne]', 'unknown_field'],
    ];
    for (const [query, field, code] of rows) {
      it(`${code}: ${query}`, async () => {
        const answer = await ask(query);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code });
      });
    }

    it('tells all problems at once', async () => {
      const answer = await ask('state=x&limit=x&nope=1');

      expect(answer.body.errors_count).to.equal(3);
    });
  });
});
